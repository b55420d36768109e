"""Purchases over HTTP: whatever the wire does to requests and answers, never two, never above a cap, never unrecorded."""

import os
import subprocess
import sys
import types
from collections.abc import Iterator

import pytest
from tests.unit.runtime.purchasing.http_world import (
    FAULTS,
    HttpWorld,
    begin,
    held,
    random_http_life,
    random_http_schedule,
    run,
    running_http_world,
    settle_and_check,
    strike_http_call,
)
from tests.unit.runtime.purchasing.ledger_table import TABLE

from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import Outcome
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world() -> Iterator[HttpWorld]:
    with running_http_world() as running, pytest.MonkeyPatch.context() as patch:
        # The pauses between attempts of boto3 would take longer than all requests.
        patch.setattr("botocore.endpoint.time", types.SimpleNamespace(sleep=lambda _: None))
        yield running


def test_buys_once_without_faults(world: HttpWorld) -> None:
    begin(world)
    outcome = run(world, buy("december", nonce="n"))
    assert isinstance(outcome, Outcome)
    assert outcome.record.state == "PURCHASED"
    settle_and_check(world, ["december"])
    assert len(world.ec2.purchases) == 1


@pytest.mark.parametrize(
    ("call", "occurrence"),
    [
        pytest.param("GetItem", 1, marks=pytest.mark.deep),
        pytest.param("TransactWriteItems", 0, marks=pytest.mark.deep),
        ("TransactWriteItems", 1),
        ("PurchaseCapacityBlock", 0),
    ],
)
def test_each_fault_around_the_purchase_is_survived(world: HttpWorld, call: str, occurrence: int) -> None:
    for fault in FAULTS:
        strike_http_call(world, call, occurrence, fault)


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


def test_random_lives_over_http(world: HttpWorld) -> None:
    assert sum(random_http_life(world, seed) for seed in range(5)) > 0


def test_random_schedules_of_two_buyers_over_http(world: HttpWorld) -> None:
    for seed in range(2):
        random_http_schedule(world, seed)


@pytest.mark.parametrize(
    ("redirection", "problem"),
    [
        ("> /dev/full", "the standard output could not be written: OSError: [Errno 28]"),
        (">&-", "the standard output could not be written: OSError: it is closed"),
        ("| true", "the standard output could not be written: BrokenPipeError: [Errno 32]"),
        ("--write /proc/none", "the file '/proc/none' could not be written: FileNotFoundError: [Errno 2]"),
    ],
    ids=["full", "closed", "nobody reads", "unwritable file"],
)
def test_the_command_line_reports_the_purchase_although_its_output_fails(
    world: HttpWorld, redirection: str, problem: str
) -> None:
    begin(world)
    item = held("december")
    assert item is not None
    token = item["token"]["S"]
    command = f"{sys.executable} -m ultracluster_cli capacity buy december --token {token}"
    script = f"set -o pipefail; {command} --ledger {TABLE} --ledger-region us-east-2 {redirection}"
    ended = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "AWS_ENDPOINT_URL": world.endpoint},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    (bought,) = world.ec2.executed
    line = ended.stderr.splitlines()[-1]
    assert line.startswith(f"UC7051: order december is PURCHASED with {bought['id']}, and {problem}")
    assert ended.returncode == 4
    assert "Traceback" not in ended.stderr
    settle_and_check(world, ["december"])
