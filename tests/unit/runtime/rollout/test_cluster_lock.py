"""The lock of a cluster, on a bucket with conditional requests."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from tests.unit.cli._aws.folder_bucket import FolderBucket

from ultracluster_runtime.rollout.cluster_lock import LEASE, ClusterLock, Holder, LockHeldError, new_holder

SECONDS = LEASE.total_seconds()
FAULTS = ("not sent", "response lost", "conflict")


class FaultyBucket(FolderBucket):
    """A bucket of which some calls fail: the request is not sent, its response is lost, or another one is under way."""

    def __init__(self, folder: Path, faults: list[str | None]) -> None:
        super().__init__(folder)
        self.faults = faults

    def _call(self, call: Callable[[], Any]) -> Any:
        fault = self.faults.pop(0) if self.faults else None
        if fault == "not sent":
            raise EndpointConnectionError(endpoint_url="s3")
        if fault == "conflict":
            answer: Any = {"Error": {"Code": "ConditionalRequestConflict", "Message": "under way"}}
            raise ClientError(answer, "PutObject")
        answer = call()
        return self._call(call) if fault == "response lost" else answer  # boto3 sends the request again

    def put_object(self, **values: Any) -> Any:
        return self._call(lambda: FolderBucket.put_object(self, **values))

    def delete_object(self, **values: Any) -> Any:
        return self._call(lambda: FolderBucket.delete_object(self, **values))


def lock(bucket: FolderBucket, clock: Callable[[], float] = lambda: 0.0) -> ClusterLock:
    return ClusterLock(client=lambda: bucket, bucket="b", key="locks/a.json", clock=clock)


def holder(why: str) -> Holder:
    return new_holder(who="alice@host", why=why)


@pytest.fixture
def bucket(tmp_path: Path) -> FolderBucket:
    return FolderBucket(tmp_path)


def test_a_lock_is_held_until_it_is_released(bucket: FolderBucket) -> None:
    first, second = lock(bucket), lock(bucket)
    first.acquire(holder("first"))

    with pytest.raises(LockHeldError) as refused:
        second.acquire(holder("second"))
    first.release()
    second.acquire(holder("second"))

    assert refused.value.held is not None
    assert (refused.value.held.holder.who, refused.value.held.holder.why) == ("alice@host", "first")
    assert lock(bucket).read() is not None


@pytest.mark.parametrize(("age", "taken"), [(SECONDS - 5, False), (SECONDS + 1, True)])
def test_a_lock_is_taken_over_only_when_it_has_expired(bucket: FolderBucket, age: float, taken: bool) -> None:
    lost = lock(bucket)
    lost.acquire(holder("first"))
    bucket.age(age)

    try:
        expired = lock(bucket).acquire(holder("second"))
    except LockHeldError:
        expired = None

    assert (expired is not None) is taken
    if taken:
        with pytest.raises(LockHeldError) as refused:
            lost.renew()
        lost.release()
        assert refused.value.held is not None
        assert refused.value.held.holder.why == "second"
        assert len(bucket.objects()) == 1, "a lock that was taken over is not released by its last holder"


def test_a_renewed_lock_does_not_expire(bucket: FolderBucket) -> None:
    held = lock(bucket)
    held.acquire(holder("first"))
    for _ in range(3):
        bucket.age(SECONDS * 0.6)
        held.renew()

    with pytest.raises(LockHeldError):
        lock(bucket).acquire(holder("second"))


def test_the_lock_of_a_process_that_is_known_to_be_dead_need_not_expire(bucket: FolderBucket) -> None:
    dead = holder("first")
    lock(bucket).acquire(dead)

    taken_over = lock(bucket).acquire(holder("second"), own=[dead.owner])

    assert taken_over is not None
    assert taken_over.holder == dead


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"owner": NaN}', b"[" * 5_000])
def test_what_somebody_else_wrote_is_the_lock_of_an_unknown_holder(
    bucket: FolderBucket, content: bytes
) -> None:
    bucket.put_object(Bucket="b", Key="locks/a.json", Body=content, ContentType="application/json")

    with pytest.raises(LockHeldError) as refused:
        lock(bucket).acquire(holder("second"))
    bucket.age(SECONDS + 1)
    taken_over = lock(bucket).acquire(holder("second"))

    assert refused.value.held is not None
    assert refused.value.held.holder == Holder()
    assert taken_over is not None


def test_a_lock_that_was_not_renewed_in_time_must_be_renewed_before_more_is_done(
    bucket: FolderBucket,
) -> None:
    now = 0.0
    held = lock(bucket, lambda: now)
    held.acquire(holder("first"))
    now = SECONDS / 2
    held.require()
    assert bucket.calls.count("PutObject") == 1
    now = SECONDS / 2 + 1
    held.require()
    assert bucket.calls.count("PutObject") == 2

    bucket.age(SECONDS + 1)
    lock(bucket).acquire(holder("second"))
    now += SECONDS
    with pytest.raises(LockHeldError):
        held.require()


@pytest.mark.parametrize(("part", "lost"), [(0.8, False), (0.95, True)])
def test_without_network_a_lock_is_held_as_long_as_its_lease(tmp_path: Path, part: float, lost: bool) -> None:
    now, bucket = 0.0, FaultyBucket(tmp_path, [])
    held = lock(bucket, lambda: now)
    held.acquire(holder("first"))
    now, bucket.faults = SECONDS * part, ["not sent"]

    if lost:
        with pytest.raises(EndpointConnectionError):
            held.require()
    else:
        held.require()


@pytest.mark.parametrize(("conflicts", "released"), [(2, True), (3, False)])
def test_a_release_that_meets_other_requests_is_sent_three_times(
    tmp_path: Path, conflicts: int, released: bool
) -> None:
    bucket = FaultyBucket(tmp_path, [])
    held = lock(bucket)
    held.acquire(holder("first"))
    bucket.faults = ["conflict"] * conflicts

    if released:
        held.release()
    else:
        with pytest.raises(ClientError):
            held.release()

    assert (lock(bucket).read() is None) is released


@pytest.mark.parametrize("seed", range(20))
def test_of_many_operators_one_holds_a_lock_whatever_fails(tmp_path: Path, seed: int) -> None:
    """Random turns of three operators, of whom one fifth of the calls fail: never do two hold the lock."""
    draw = random.Random(seed)  # noqa: S311 - not for security
    bucket = FaultyBucket(tmp_path, [])
    operators = [lock(bucket) for _ in range(3)]
    holding: set[int] = set()
    refusals = 0
    for _ in range(300):
        turn = draw.randrange(3)
        bucket.faults = [draw.choice(FAULTS) if draw.random() < 0.2 else None for _ in range(3)]
        try:
            if turn not in holding:
                operators[turn].acquire(holder(str(turn)))
                holding.add(turn)
            elif draw.random() < 0.5:
                operators[turn].renew()
            else:
                holding.discard(turn)
                operators[turn].release()
        except (LockHeldError, EndpointConnectionError, ClientError):
            refusals += 1
        assert len(holding) <= 1
        if not holding:
            bucket.age(SECONDS + 1)
    assert refusals > 50
