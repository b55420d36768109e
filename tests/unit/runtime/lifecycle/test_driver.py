"""The life cycle on real boto3 clients: what it reads, what it does, and any single call failing."""

import contextlib
import json
import logging
import subprocess
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.runtime.lifecycle.block_observations import STRANGE_STATES
from tests.unit.runtime.lifecycle.lifecycle_aws import (
    ADDITIONAL_QUEUE,
    ENVIRONMENT,
    FAULTS,
    FOREIGN,
    NODES,
    OTHER,
    RESERVATION,
    START,
    TOPIC,
    FakeAws,
    cluster,
)

from ultracluster_runtime.lifecycle.driver import (
    CHECKPOINT_FILE,
    LifecycleError,
    manage_block,
    manage_blocks,
)
from ultracluster_runtime.lifecycle.reader import ManagedBlock
from ultracluster_runtime.lifecycle.state import LifecycleState

pytestmark = pytest.mark.slow  # boto3 needs a second for its clients, and every call fails in every way

END = START + timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
TIMEOUT = 120  # of the function, seconds
SIGNAL = END - timedelta(minutes=60)
DRAIN = END - timedelta(minutes=40)
SECOND_BLOCK = "cr-0000000000000000b"

Scene = Callable[[FakeAws], datetime]


@pytest.fixture
def aws() -> FakeAws:
    return FakeAws()


def wake(aws: FakeAws, now: datetime) -> None:
    manage_block(cluster(), aws.clients, now, owner=f"invocation-{len(aws.calls)}")


def memory(aws: FakeAws) -> LifecycleState:
    return LifecycleState.from_json(aws.parameter, reservation_id=RESERVATION)


def state_of(aws: FakeAws) -> tuple[object, ...]:
    """What must be the same in the end, whatever failed on the way."""
    subjects = {each["Subject"].partition(":")[0] for each in aws.published}
    return (
        {arn: shown["state"] for arn, shown in aws.environments.items()},
        aws.queue_state,
        aws.terminated,
        subjects,
        memory(aws).notices,
    )


def told(aws: FakeAws) -> set[str]:
    return {node for command in aws.commands for node in command["InstanceIds"]}


def begins(_: FakeAws) -> datetime:
    return START + MINUTE


def begins_closed(aws: FakeAws) -> datetime:
    aws.environments[ENVIRONMENT]["state"] = aws.queue_state = "DISABLED"
    return START + MINUTE


def comes_near_its_end(_: FakeAws) -> datetime:
    return SIGNAL


def drains(aws: FakeAws) -> datetime:
    aws.add_environment("DISABLED", reservation=SECOND_BLOCK)
    aws.reservations[SECOND_BLOCK] = aws.reservations[RESERVATION] | {"State": "expired"}
    before = LifecycleState(reservation_id=RESERVATION).with_block(start=START, end=END, instances=2)
    aws.parameter = before.with_checkpoint_requests(
        frozenset(NODES), SIGNAL, present=frozenset(NODES)
    ).to_json()
    return DRAIN


def has_ended(aws: FakeAws) -> datetime:
    aws.parameter = (
        LifecycleState(reservation_id=RESERVATION).with_block(start=START, end=END, instances=2).to_json()
    )
    aws.reservations[RESERVATION]["State"] = "expired"
    aws.instances.clear()
    aws.jobs.clear()
    return END


SCENES = (begins, begins_closed, comes_near_its_end, drains, has_ended)


def test_opens_at_the_start(aws: FakeAws) -> None:
    wake(aws, begins_closed(aws))
    assert (aws.environments[ENVIRONMENT]["state"], aws.queue_state) == ("ENABLED", "ENABLED")
    assert aws.terminated == {}
    assert aws.commands == []


def test_checkpoint_request_writes_the_file_on_the_nodes_of_the_block(aws: FakeAws, tmp_path: Path) -> None:
    wake(aws, SIGNAL)
    (command,) = aws.commands
    assert command["InstanceIds"] == list(NODES)
    assert command["DocumentName"] == "AWS-RunShellScript"
    # The commands run here for real, in a folder instead of /run/ultracluster.
    script = "\n".join(command["Parameters"]["commands"]).replace("/run/", f"{tmp_path}/run/")
    assert f"{CHECKPOINT_FILE}.new " in script  # people who stop a job write another one
    for _ in range(2):
        subprocess.run(["/bin/sh", "-ec", script], check=True)
    assert Path(f"{tmp_path}{CHECKPOINT_FILE}").read_text() == "2026-12-02T11:00:00Z\n"
    assert set(memory(aws).checkpoint_requests) == set(NODES)


def test_unreachable_node_does_not_block_requests_to_other_nodes(aws: FakeAws) -> None:
    aws.unreachable = {NODES[0]}
    with pytest.raises(LifecycleError, match=f"could not request a checkpoint.*{NODES[0]}"):
        wake(aws, SIGNAL)
    assert [command["InstanceIds"] for command in aws.commands] == [[NODES[1]]]
    assert set(memory(aws).checkpoint_requests) == {NODES[1]}


def test_many_nodes_are_reached_by_several_commands(aws: FakeAws) -> None:
    aws.instances |= {f"i-{number:017x}": RESERVATION for number in range(100, 162)}
    wake(aws, SIGNAL)
    assert [len(command["InstanceIds"]) for command in aws.commands] == [50, 14]


def test_drains_its_own_nodes_and_nothing_else(aws: FakeAws) -> None:
    wake(aws, drains(aws))
    assert aws.environments[ENVIRONMENT]["state"] == "DISABLED"
    assert aws.queue_state == "DISABLED"
    assert list(aws.terminated) == ["multi"]
    assert "2026-12-02 11:30 UTC" in aws.terminated["multi"]
    assert aws.jobs["single"] == "RUNNING"
    assert not [command for command in aws.commands if FOREIGN in command["InstanceIds"]]


@pytest.mark.parametrize(
    ("state", "status", "other", "closes"),
    [
        ("ENABLED", "VALID", None, False),
        ("ENABLED", "INVALID", None, True),
        ("DISABLED", "VALID", None, True),
        ("DISABLED", "VALID", {"State": "scheduled", "EndDate": END + timedelta(days=9)}, False),
        ("DISABLED", "VALID", {"State": "active", "EndDate": END + timedelta(days=9)}, False),
        ("DISABLED", "VALID", {"State": "active", "EndDate": DRAIN + timedelta(minutes=40)}, True),
        ("DISABLED", "VALID", {"State": "expired", "EndDate": END + timedelta(days=9)}, True),
        (
            "DISABLED",
            "VALID",
            # In the drain of an UltraServer, which begins 70 minutes before its end.
            {"State": "active", "EndDate": DRAIN + timedelta(minutes=70), "InstanceType": "trn2u.48xlarge"},
            True,
        ),
    ],
)
def test_queue_stays_open_while_another_environment_serves_it(
    aws: FakeAws, state: str, status: str, other: dict[str, object] | None, closes: bool
) -> None:
    now = drains(aws)
    aws.add_environment(state, status=status, reservation=SECOND_BLOCK if other else None)
    aws.reservations[SECOND_BLOCK] = aws.reservations[RESERVATION] | (other or {})
    wake(aws, now)
    assert (aws.queue_state == "DISABLED") is closes
    assert aws.environments[OTHER]["state"] == state


@pytest.mark.parametrize("further", ["", ADDITIONAL_QUEUE])
def test_jobs_of_additional_queues_are_terminated_too(aws: FakeAws, further: str) -> None:
    now = drains(aws)
    aws.further_jobs = {"multi"}
    given = cluster(additional_job_queues=tuple(filter(None, [further])))
    manage_block(given, aws.clients, now, owner="invocation")
    assert list(aws.terminated) == (["multi"] if further else [])
    assert aws.calls.count("UpdateJobQueue") == 1  # the further queue itself stays as it is


def test_notice_contains_the_extension_price(aws: FakeAws) -> None:
    aws.offers = [
        {
            "CapacityBlockExtensionDurationHours": 24,
            "UpfrontFee": "1716.52",
            "CurrencyCode": "USD",
            "CapacityBlockExtensionEndDate": END + timedelta(days=1),
        }
    ]
    wake(aws, END - timedelta(hours=2))
    (notice,) = aws.published
    assert notice["TopicArn"] == TOPIC
    assert "24 h for 1716.52 USD, until 2026-12-03 11:30 UTC" in notice["Message"]


def test_notice_is_sent_without_an_extension_price(aws: FakeAws) -> None:
    aws.failing = dict.fromkeys({"DescribeCapacityBlockExtensionOfferings"}, "denied")
    wake(aws, END - timedelta(hours=2))
    (notice,) = aws.published
    assert "AccessDeniedException" in notice["Message"]


def test_the_report_is_sent_and_logged_as_json(aws: FakeAws, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        wake(aws, has_ended(aws))
    (notice,) = aws.published
    figures = json.loads(notice["Message"].rpartition("\n\n")[2])
    assert (figures["paid_node_hours"], figures["unobserved_node_hours"]) == (48.0, 48.0)
    assert json.dumps(figures, sort_keys=True) in [record.message for record in caplog.records]


def test_a_block_that_ec2_has_forgotten_is_reported_and_raises_no_alarm(aws: FakeAws) -> None:
    now = has_ended(aws)
    del aws.reservations[RESERVATION]
    for minutes in range(3):
        wake(aws, now + minutes * MINUTE)
    assert len(aws.published) == 1
    assert aws.environments[ENVIRONMENT]["state"] == "DISABLED"


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_second_run_changes_nothing(scene: Scene, aws: FakeAws) -> None:
    now = scene(aws)
    wake(aws, now)
    done, published = state_of(aws), len(aws.published)
    del aws.calls[:]
    wake(aws, now)
    assert (state_of(aws), len(aws.published)) == (done, published)
    assert not {
        "UpdateComputeEnvironment",
        "UpdateJobQueue",
        "TerminateJob",
        "Publish",
    } & set(aws.calls)


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(each, id=each.__name__, marks=() if each is has_ended else pytest.mark.deep)
        for each in SCENES
    ],
)
def test_any_call_can_fail_in_any_way_and_the_next_run_completes(scene: Scene) -> None:
    undisturbed = FakeAws()
    wake(undisturbed, scene(undisturbed))
    reach = len(undisturbed.calls)
    assert reach >= 7
    failed = 0
    for number in range(reach):
        for fault in FAULTS:
            aws = FakeAws()
            now = scene(aws)
            aws.faults = {number: fault}
            try:
                wake(aws, now)
            except LifecycleError:
                failed += 1
            aws.faults = {}
            # A lease that was not given back ends first.
            for minutes in range(4):
                wake(aws, now + minutes * MINUTE)
            assert state_of(aws) == state_of(undisturbed), f"{fault} at {undisturbed.calls[number]}"
            assert told(aws) >= told(undisturbed)
            assert not [call for call in aws.calls if "Purchase" in call]
    assert failed > reach  # the faults do arrive


@pytest.mark.parametrize("fault", sorted({*FAULTS} - {"more fields"}))
def test_nothing_changes_if_the_reservation_cannot_be_read(fault: str, aws: FakeAws) -> None:
    now = drains(aws)
    aws.faults = dict.fromkeys((1, 2), fault)
    with pytest.raises(LifecycleError):
        wake(aws, now)
    assert set(aws.calls) == {"UpdateItem", "DescribeCapacityReservations"}
    assert aws.environments[ENVIRONMENT]["state"] == "ENABLED"


# The alarm of the function counts its errors, so that each failure must end the run with one

WITHOUT_THEM = {"DescribeCapacityBlockExtensionOfferings", "GetConsoleOutput"}  # a notice lacks a line


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_every_call_that_fails_makes_the_function_fail(scene: Scene) -> None:
    undisturbed = FakeAws()
    wake(undisturbed, scene(undisturbed))
    silent = set()
    for call in sorted(set(undisturbed.calls) - WITHOUT_THEM):
        for fault in ("denied", "unparsable", "lost request"):
            aws = FakeAws()
            now = scene(aws)
            aws.failing[call] = fault
            with contextlib.suppress(LifecycleError):
                wake(aws, now)
                silent.add((call, fault))

    assert silent == set()


def test_a_former_block_that_fails_makes_the_function_fail(aws: FakeAws) -> None:
    now = drains(aws)
    aws.failing["ListJobs"] = "denied"
    renamed = cluster(reservation_id=SECOND_BLOCK)

    with pytest.raises(LifecycleError, match="ListJobs"):
        manage_blocks(renamed, aws.clients, now, owner="one")


def test_former_blocks_that_cannot_be_listed_make_the_function_fail(aws: FakeAws) -> None:
    now = begins(aws)
    aws.failing["Scan"] = "denied"

    with pytest.raises(LifecycleError, match="Scan"):
        manage_blocks(cluster(), aws.clients, now, owner="one")


def test_a_lease_that_cannot_be_released_makes_the_function_fail(aws: FakeAws) -> None:
    undisturbed = FakeAws()
    wake(undisturbed, begins(undisturbed))
    assert undisturbed.calls[-1] == "UpdateItem"
    aws.faults = {len(undisturbed.calls) - 1: "denied"}

    with pytest.raises(LifecycleError, match="UpdateItem"):
        wake(aws, begins(aws))


# One unreadable answer costs one action, not the run


@pytest.mark.parametrize("fault", ["garbage", "unparsable"])
@pytest.mark.parametrize(
    "call",
    [
        "DescribeCapacityReservations",
        "DescribeComputeEnvironments",
        "DescribeJobQueues",
        "DescribeInstances",
        "DescribeCapacityBlockExtensionHistory",
        "ListJobs",
        "DescribeJobs",
        "UpdateComputeEnvironment",
        "UpdateJobQueue",
    ],
)
def test_one_unreadable_answer_costs_one_action(fault: str, call: str) -> None:
    undisturbed = FakeAws()
    wake(undisturbed, drains(undisturbed))
    lost = {
        "DescribeComputeEnvironments": {"UpdateComputeEnvironment"},
        "DescribeJobQueues": {"UpdateJobQueue"},
        "UpdateComputeEnvironment": {"UpdateComputeEnvironment"} if fault == "unparsable" else set(),
        "UpdateJobQueue": {"UpdateJobQueue"} if fault == "unparsable" else set(),
        "DescribeCapacityReservations": set(),
    }.get(call, {"TerminateJob"})
    aws = FakeAws()
    now = drains(aws)
    aws.faults = {undisturbed.calls.index(call): fault}
    with contextlib.suppress(LifecycleError):
        wake(aws, now)
    done = {
        "UpdateComputeEnvironment": aws.environments[ENVIRONMENT]["state"] == "DISABLED",
        "UpdateJobQueue": aws.queue_state == "DISABLED",
        "TerminateJob": bool(aws.terminated),
    }
    assert {action for action, happened in done.items() if not happened} == lost


# The last hour of a block, minute by minute: no job is ended early, and none is left to EC2

EARLIEST, LATEST = -40, -31  # EC2 terminates from 30 minutes before the end


class FunctionTimeoutError(BaseException):
    """Lambda has ended the function."""


def extension(status: str, *, hours: int) -> dict[str, object]:
    return {"CapacityBlockExtensionStatus": status, "CapacityBlockExtensionEndDate": END + hours * HOUR}


def slow_systems_manager(aws: FakeAws) -> None:
    """64 nodes, of which a third is not connected; each SendCommand takes five seconds."""
    nodes = [f"i-{number:017x}" for number in range(100, 164)]
    aws.instances = dict.fromkeys(nodes, RESERVATION)
    aws.jobs = {"multi": "RUNNING"} | {f"multi#{index}": "RUNNING" for index in range(64)}
    aws.hosts = {f"multi#{index}": node for index, node in enumerate(nodes)}
    aws.unreachable = set(nodes[::3])
    main = threading.current_thread()

    def answered(call: str) -> None:
        # Calls in threads take their time together: sixteen at once.
        aws.seconds += (5 if call == "SendCommand" else 1) / (1 if threading.current_thread() is main else 16)
        if aws.seconds > TIMEOUT:
            raise FunctionTimeoutError

    aws.answered = answered


def extended(status: str, *, hours: int = 24) -> Callable[[FakeAws], object]:
    return lambda aws: aws.extensions.append(extension(status, hours=hours))


HOURS: dict[str, tuple[Callable[[FakeAws], object], int]] = {
    "nothing": (lambda _: None, -40),
    "an extension waits for its payment": (extended("payment-pending"), -32),
    "an extension is in an unknown state": (extended("payment-under-review"), -32),
    "an extension is paid, and the reservation still shows the old end": (extended("payment-succeeded"), -32),
    "an extension has failed": (extended("payment-failed"), -40),
    "an extension was paid long ago": (extended("payment-succeeded", hours=0), -40),
    **{
        f"the history of extensions is {fault}": (
            lambda aws, fault=fault: aws.failing.update(DescribeCapacityBlockExtensionHistory=fault),
            -32,
        )
        for fault in FAULTS
        if fault != "more fields"
    },
    "the first pages are empty": (lambda aws: setattr(aws, "empty_pages", True), -40),
    **{
        f"the memory holds {what}": (lambda aws, text=text: setattr(aws, "parameter", text), -40)
        for what, text in STRANGE_STATES.items()
    },
    "the lease has no time": (lambda aws: aws.items[RESERVATION].update(until={"NULL": True}), -40),
    "the lease ends in the year 9999": (
        lambda aws: aws.items[RESERVATION].update(owner={"S": "another"}, until={"N": "253402300799"}),
        -40,
    ),
    "the memory cannot be read": (lambda aws: aws.failing.update(UpdateItem="throttled"), -32),
}


@pytest.mark.parametrize("fault", HOURS)
def test_jobs_end_neither_early_nor_by_ec2(fault: str, aws: FakeAws) -> None:
    strike, expected = HOURS[fault]
    strike(aws)
    ended = live(aws, cluster())
    assert EARLIEST <= ended <= LATEST
    assert ended == expected
    assert told(aws) == set(NODES)


def test_slow_systems_manager_leaves_time_to_end_the_jobs_of_64_nodes(aws: FakeAws) -> None:
    slow_systems_manager(aws)
    ended = live(aws, cluster())
    assert EARLIEST <= ended <= LATEST
    assert told(aws) == set(aws.instances) - aws.unreachable


@pytest.mark.parametrize("fault", ["nothing", "empty pages", "payment-pending"])
def test_block_is_drained_after_a_deployment_named_another(fault: str, aws: FakeAws) -> None:
    aws.reservations[SECOND_BLOCK] = aws.reservations[RESERVATION] | {
        "State": "scheduled",
        "StartDate": END,
        "EndDate": END + timedelta(days=1),
    }
    wake(aws, END - 2 * HOUR)
    aws.empty_pages = fault == "empty pages"
    if fault == "payment-pending":
        aws.extensions = [extension(fault, hours=24)]
    ended = live(aws, cluster(reservation_id=SECOND_BLOCK))
    assert ended == (-32 if fault == "payment-pending" else -40)
    assert told(aws) == set(NODES)
    assert aws.queue_state == "ENABLED"  # it belongs to the second block
    aws.reservations[RESERVATION]["State"] = "expired"
    for minutes in (1, 2):
        manage_blocks(cluster(reservation_id=SECOND_BLOCK), aws.clients, END + minutes * MINUTE, owner="late")
    reports = [notice["Subject"] for notice in aws.published if "has ended" in notice["Subject"]]
    assert len(reports) == 1
    del aws.calls[:]
    manage_blocks(cluster(reservation_id=SECOND_BLOCK), aws.clients, END + 2 * HOUR, owner="later")
    assert aws.calls.count("UpdateItem") == 2  # the lease of the second block only


def live(aws: FakeAws, block: ManagedBlock) -> int:
    """Run the function every minute of the last hour; return the minute, relative to the end, in which the jobs ended."""
    for minute in range(-65, -29):
        aws.seconds = 0.0
        with contextlib.suppress(LifecycleError, FunctionTimeoutError):
            manage_blocks(block, aws.clients, END + minute * MINUTE, owner=f"invocation {minute}")
        if aws.terminated:
            assert list(aws.terminated) == ["multi"]
            return minute
    pytest.fail("jobs were left to EC2")


def node_array(aws: FakeAws, *waiting: str) -> None:
    """Put an array whose started children are on the nodes of the block in the place of the other jobs."""
    started = [f"node_array:{index}" for index in range(len(NODES))]
    aws.arrays["node_array"], aws.node_arrays = len(started) + len(waiting), {"node_array"}
    aws.jobs = (
        {"node_array": "PENDING"} | dict.fromkeys(started, "RUNNING") | dict.fromkeys(waiting, "RUNNABLE")
    )
    aws.hosts = dict(zip(started, NODES, strict=True))


def test_group_is_filled_while_the_block_is_open_and_emptied_in_its_drain(aws: FakeAws) -> None:
    block = cluster(auto_scaling_group="fleet")
    node_array(aws, "node_array:2")
    aws.desired = 0
    manage_block(block, aws.clients, START + MINUTE, owner="first")
    assert aws.desired == 2

    manage_block(block, aws.clients, SIGNAL, owner="signal")
    manage_block(block, aws.clients, DRAIN, owner="drain")
    assert aws.desired == 0
    assert aws.protected == dict.fromkeys(NODES, True)
    # The array last: while it is listed, children that are left are found.
    assert sorted([*aws.terminated][:3]) == ["node_array:0", "node_array:1", "node_array:2"]
    assert [*aws.terminated][3:] == ["node_array"]

    manage_block(block, aws.clients, DRAIN + MINUTE, owner="after")
    assert aws.protected == dict.fromkeys(NODES, False)


def test_array_is_not_terminated_before_all_its_children(aws: FakeAws) -> None:
    node_array(aws)
    manage_block(cluster(), aws.clients, SIGNAL, owner="signal")
    aws.failing["TerminateJob"] = "denied"
    with pytest.raises(LifecycleError, match="AccessDenied"):
        manage_block(cluster(), aws.clients, DRAIN, owner="drain")
    assert aws.terminated == {}
    aws.failing.clear()
    manage_block(cluster(), aws.clients, DRAIN + MINUTE, owner="again")
    assert [*aws.terminated][-1] == "node_array"
