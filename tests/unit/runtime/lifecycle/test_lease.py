"""Two invocations of the life cycle at once: every schedule is drawn from a seed and runs on real boto3 clients and threads."""

import random
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import boto3
import pytest
from moto import mock_aws
from tests.unit.runtime.lifecycle.lifecycle_aws import NODES, RESERVATION, START, FakeAws, cluster

from ultracluster_runtime.lifecycle import lease
from ultracluster_runtime.lifecycle.driver import LifecycleError, manage_block
from ultracluster_runtime.lifecycle.lease import LEASE, LeasedState, LeaseHeldError
from ultracluster_runtime.lifecycle.state import LifecycleState

pytestmark = pytest.mark.slow  # boto3 needs a second for its clients

END = START + timedelta(days=1)
MINUTE = timedelta(minutes=1)
SIGNAL = END - timedelta(minutes=60)
SEEDS = range(60)


class Crash(BaseException):
    """The function is killed: none of its calls reaches AWS from here on."""


class Schedule:
    """Grants the calls of several invocations one at a time, in an order drawn from a seed."""

    def __init__(self, aws: FakeAws, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - chance that can be repeated
        self._answer = aws.answer
        self._threads: dict[str, threading.Thread] = {}
        self._waiting: set[str] = set()
        self._granted: str | None = None
        self._changed = threading.Condition()
        self.crashes: dict[str, int] = {}  # invocation: its call at which it is killed
        self.calls: dict[str, int] = {}
        self.trace: list[tuple[str, str]] = []
        aws.answer = self.answer  # type: ignore[method-assign]

    def start(self, name: str, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except (Crash, LifecycleError):
                pass
            finally:
                with self._changed:
                    del self._threads[name]
                    self._changed.notify_all()

        self._threads[name] = threading.Thread(target=run, name=name)

    def answer(self, model: Any, asked: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        name = threading.current_thread().name
        with self._changed:
            self._waiting.add(name)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._granted == name)
            self._granted = None
            number = self.calls[name] = self.calls.get(name, 0) + 1
            try:
                if number >= self.crashes.get(name, 10**9):
                    raise Crash
                self.trace.append((name, str(model.name)))
                return self._answer(model, asked)
            finally:
                self._changed.notify_all()

    def finish(self) -> None:
        threads = list(self._threads.values())
        for thread in threads:
            thread.start()
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._granted is None and self._waiting == set(self._threads), timeout=30
                )
                if not self._threads:
                    break
                self._granted = self._chance.choice(sorted(self._waiting))
                self._waiting.discard(self._granted)
                self._changed.notify_all()
        for thread in threads:
            thread.join()


def race(seed: int, *, crash_at: int | None = None, now: datetime = SIGNAL) -> tuple[FakeAws, Schedule]:
    """Two invocations at once, then undisturbed ones until the lease of one that was killed has ended."""
    aws = FakeAws()
    clients = aws.clients
    schedule = Schedule(aws, seed)
    if crash_at is not None:
        schedule.crashes["first"] = crash_at
    for name in ("first", "second"):
        schedule.start(name, partial(manage_block, cluster(), clients, now, owner=name))
    schedule.finish()
    for minute in range(1, 4):
        name = f"minute {minute}"
        schedule.start(name, partial(manage_block, cluster(), clients, now + minute * MINUTE, owner=name))
        schedule.finish()
    return aws, schedule


def subjects(aws: FakeAws) -> list[str]:
    return [str(notice["Subject"]) for notice in aws.published]


def stored(aws: FakeAws) -> LifecycleState:
    return LifecycleState.from_json(aws.parameter, reservation_id=RESERVATION)


def test_two_invocations_at_once_do_the_work_of_one() -> None:
    skipped = 0
    for seed in SEEDS:
        aws, schedule = race(seed)
        assert len(subjects(aws)) == 1, schedule.trace
        assert set(stored(aws).checkpoint_requests) == set(NODES)
        assert {*stored(aws).checkpoint_requests.values()} == {SIGNAL}
        # Three minutes after the first sample; it is further from the start than what counts as observed.
        assert stored(aws).observed_seconds == 2 * 3 * 60
        assert "owner" not in aws.items[RESERVATION]
        skipped += schedule.calls["first"] == 1 or schedule.calls["second"] == 1
    assert skipped > len(SEEDS) / 2  # they did meet


def test_an_invocation_that_is_killed_anywhere_delays_its_work_by_its_lease_at_most() -> None:
    _, undisturbed = race(0)
    for seed in range(3):
        for crash_at in range(1, undisturbed.calls["first"] + undisturbed.calls["second"]):
            aws, schedule = race(seed, crash_at=crash_at)
            assert set(stored(aws).checkpoint_requests) == set(NODES), schedule.trace
            assert "owner" not in aws.items[RESERVATION]
            # Killed between a message and its record, it cannot know that people have heard.
            killed = [call for name, call in schedule.trace if name == "first"]
            assert 1 <= len(subjects(aws)) <= 1 + (killed[-1:] == ["Publish"]), schedule.trace


# The conditions, judged by moto's DynamoDB


@pytest.fixture
def item() -> Any:
    with mock_aws():
        client = boto3.client(
            "dynamodb", region_name="us-east-2", aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        client.create_table(
            TableName="states",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield lambda owner: LeasedState(client=client, table="states", item="cr-1", owner=owner)


def test_only_the_holder_of_the_lease_changes_the_state(item: Callable[[str], LeasedState]) -> None:
    first, second = item("first"), item("second")
    assert first.acquire(START) == "{}"
    assert first.acquire(START) == "{}"  # boto3 sends a request again after a lost response
    with pytest.raises(LeaseHeldError):
        second.acquire(START)
    first.save("1")
    with pytest.raises(Exception, match="ConditionalCheckFailed"):
        second.save("2")
    with pytest.raises(Exception, match="ConditionalCheckFailed"):
        second.release()
    first.release()
    assert second.acquire(START) == "1"
    with pytest.raises(Exception, match="ConditionalCheckFailed"):
        first.save("1 again")


@pytest.mark.parametrize(("late", "free"), [(timedelta(seconds=-1), False), (timedelta(0), True)])
def test_a_lease_ends_and_its_holder_can_write_no_more(
    late: timedelta, free: bool, item: Callable[[str], LeasedState]
) -> None:
    first, second = item("first"), item("second")
    first.acquire(START)
    if free:
        second.acquire(START + LEASE + late)
        with pytest.raises(Exception, match="ConditionalCheckFailed"):
            first.save("too late")
    else:
        with pytest.raises(LeaseHeldError):
            second.acquire(START + LEASE + late)


@pytest.mark.parametrize("until", [{"NULL": True}, {"N": "9" * 38}, {"N": "-1"}])
def test_lease_with_an_impossible_end_holds_nobody_up(
    until: dict[str, Any], item: Callable[[str], LeasedState]
) -> None:
    first, second = item("first"), item("second")
    first.acquire(START)
    first.client.update_item(
        TableName="states",
        Key={"id": {"S": "cr-1"}},
        UpdateExpression="SET #until = :until",
        ExpressionAttributeNames={"#until": "until"},
        ExpressionAttributeValues={":until": until},
    )
    assert second.acquire(START) == "{}"


def test_a_lease_outlives_every_run_of_the_function() -> None:
    from ultracluster.operations.block_lifecycle import TIMEOUT

    assert lease.LEASE.total_seconds() > TIMEOUT
