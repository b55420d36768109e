"""Purchases over HTTP: whatever the wire does to requests and answers, never two, never above a cap, never unrecorded."""

from collections.abc import Iterator
from datetime import timedelta

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from tests.unit.runtime.purchasing.http_world import (
    FAULTS,
    HttpWorld,
    begin,
    buy_and_kill,
    check,
    command_line,
    driver,
    held,
    random_http_life,
    random_http_schedule,
    run,
    running_http_world,
    settle_and_check,
    strike_http_call,
)

from ultracluster_runtime.purchasing.ec2_objects import PurchaseBlock
from ultracluster_runtime.purchasing.effects import OutcomeUnknown, Send
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import Outcome
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

PURCHASE = "PurchaseCapacityBlock"


@pytest.fixture(scope="module")
def world() -> Iterator[HttpWorld]:
    with running_http_world() as running:
        yield running


def test_buys_once_without_faults(world: HttpWorld) -> None:
    begin(world)
    outcome = run(world, buy("december", nonce="n"))
    assert isinstance(outcome, Outcome)
    assert outcome.record.state == "PURCHASED"
    settle_and_check(world, ["december"])
    assert len(world.ec2.purchases) == 1


def test_each_fault_after_the_dry_run_is_survived(world: HttpWorld) -> None:
    for fault in FAULTS:
        strike_http_call(world, "TransactWriteItems", 1, fault)


@pytest.mark.deep
def test_every_fault_at_every_call_is_survived(world: HttpWorld) -> None:
    begin(world)
    run(world, buy("december", nonce="n"))
    calls = list(world.calls)
    for call in dict.fromkeys(calls):
        for occurrence in range(calls.count(call)):
            for fault in FAULTS:
                strike_http_call(world, call, occurrence, fault)


@pytest.mark.parametrize("fault", [*FAULTS, "hang-after"])
def test_a_purchase_that_fails_on_the_wire_is_found_in_ec2_and_not_sent_again(
    world: HttpWorld, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    if fault == "hang-after":
        monkeypatch.setattr(world, "patience", 0.5)
    outcome = strike_http_call(world, PURCHASE, 0, fault)
    assert isinstance(outcome, Outcome)
    without_a_trace = "REJECTED" if fault == "403-before" else "SENDING"
    assert outcome.record.state == ("PURCHASED" if fault.endswith("-after") else without_a_trace)


def _reset_after_purchases(call: str) -> str:
    return "reset-after" if call == PURCHASE else ""


def test_client_with_default_retries_would_buy_twice(world: HttpWorld) -> None:
    # The control: the same world, without our configuration of the client. Two attempts, so that it waits once.
    begin(world)
    world.choose_fault = _reset_after_purchases
    retrying = Config(retries={"total_max_attempts": 2, "mode": "standard"})
    tags = [{"Key": "uc:po", "Value": "x"}]
    with pytest.raises(BotoCoreError):
        boto3.client("ec2", region_name="us-east-2", config=retrying).purchase_capacity_block(
            CapacityBlockOfferingId="cb-good",
            InstancePlatform="Linux/UNIX",
            TagSpecifications=[{"ResourceType": "capacity-reservation", "Tags": tags}],
        )
    assert len(world.ec2.executed) == 2


def test_request_is_not_sent_twice_even_if_the_client_retries(
    world: HttpWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(world)
    world.choose_fault = _reset_after_purchases
    retrying = Config(retries={"total_max_attempts": 3, "mode": "standard"})
    monkeypatch.setattr("ultracluster_runtime.purchasing.ec2_driver.PURCHASING", retrying)
    request = PurchaseBlock(
        region="us-east-2",
        offering_id="cb-good",
        platform="Linux/UNIX",
        order_name="december",
        ultraserver=False,
    )
    now = world.now()
    reply = driver(world).perform(Send(request=request, not_before=now, not_after=now + timedelta(minutes=1)))
    assert isinstance(reply, OutcomeUnknown)
    assert len(world.ec2.purchases) == 1


def test_refuses_to_buy_after_a_dry_run_that_executed(world: HttpWorld) -> None:
    begin(world)
    world.ec2.ignores_dry_run = True
    error = run(world, buy("december", nonce="n"))
    assert isinstance(error, FindingsError)
    assert error.findings[0].code == "UC7047"
    run(world, buy("december", nonce="again"))
    assert len(world.ec2.purchases) == 1  # the dry run itself, which this EC2 executed
    settle_and_check(world, ["december"])


def test_a_proxy_that_answers_for_the_ledger_buys_nothing(world: HttpWorld) -> None:
    begin(world)
    world.choose_fault = lambda call: "forged-before" if call == "TransactWriteItems" else ""
    error = run(world, buy("december", nonce="n"))

    assert isinstance(error, FindingsError)
    assert [finding.code for finding in error.findings] == ["UC7049"]
    assert world.ec2.purchases == []
    item = held("december")
    assert item is not None
    assert item["state"]["S"] == "APPROVED"


@pytest.mark.parametrize("fault", ["html-before", "empty-before", "xhtml-before", "truncated-after"])
def test_an_unreadable_ledger_is_not_a_lost_ledger(world: HttpWorld, fault: str) -> None:
    begin(world)
    world.choose_fault = lambda call: fault if call == "GetItem" else ""
    error = run(world, buy("december", nonce="n"))

    assert isinstance(error, FindingsError)
    assert [finding.code for finding in error.findings] == ["UC7035"]
    assert "UnreadableAnswer" in str(error)


@pytest.mark.parametrize("lives", [5, pytest.param(2_000, marks=pytest.mark.deep)])
def test_random_lives_over_http(world: HttpWorld, lives: int) -> None:
    assert sum(random_http_life(world, seed) for seed in range(lives)) > lives / 2


@pytest.mark.parametrize("schedules", [2, pytest.param(500, marks=pytest.mark.deep)])
def test_random_schedules_of_two_buyers_over_http(world: HttpWorld, schedules: int) -> None:
    for seed in range(schedules):
        random_http_schedule(world, seed)


def test_process_killed_during_the_purchase_bought_once(world: HttpWorld) -> None:
    buy_and_kill(world, PURCHASE, after=True)
    assert len(world.ec2.purchases) == 1


@pytest.mark.deep
def test_process_killed_at_any_request_bought_once_at_most(world: HttpWorld) -> None:
    (name,) = begin(world)
    child = command_line(name)
    _, stderr = child.communicate(timeout=120)
    assert child.returncode == 0, stderr
    requests = len(world.calls)  # the command line also reads the last rehearsal
    for number in range(1, requests + 1):
        for after in (False, True):
            buy_and_kill(world, number, after=after)


def test_several_processes_at_once_buy_once(world: HttpWorld) -> None:
    (name,) = begin(world)
    for child in [command_line(name) for _ in range(3)]:
        _, stderr = child.communicate(timeout=120)
        assert child.returncode in {0, 5}, stderr
    assert len(world.ec2.purchases) == 1
    check(world, [name])


@pytest.mark.parametrize(
    ("then", "problem"),
    [
        ("> /dev/full", "the standard output could not be written: OSError: [Errno 28]"),
        (">&-", "the standard output could not be written: OSError: it is closed"),
        ("| true", "the standard output could not be written: BrokenPipeError: [Errno 32]"),
        ("--write /proc/none", "the file '/proc/none' could not be written: FileNotFoundError: [Errno 2]"),
    ],
    ids=["full", "closed", "nobody reads", "unwritable file"],
)
def test_the_command_line_reports_the_purchase_although_its_output_fails(
    world: HttpWorld, then: str, problem: str
) -> None:
    (name,) = begin(world)
    ended = command_line(name, then)
    _, stderr = ended.communicate(timeout=120)

    (bought,) = world.ec2.executed
    assert stderr.splitlines()[-1].startswith(
        f"UC7051: order december is PURCHASED with {bought['id']}, and {problem}"
    )
    assert ended.returncode == 4
    assert "Traceback" not in stderr
    settle_and_check(world, [name])
