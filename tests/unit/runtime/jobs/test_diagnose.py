"""Each reason why a job waits is given where it applies, and not where it just does not."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ultracluster_runtime.jobs.diagnose import (
    Capacity,
    Consumable,
    Environment,
    Job,
    PendingJob,
    QueuedJob,
    Quota,
    diagnose,
)
from ultracluster_runtime.lifecycle.observations import Reservation

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)

BLOCK = Reservation(
    state="active", is_block=True, ultraserver=False, instances=4, start=NOW - DAY, end=NOW + DAY
)
CAPACITY = Capacity(id="cr-0123456789abcdef0", reservation=BLOCK, available=4)
ENVIRONMENT = Environment(
    name="nodes",
    enabled=True,
    status="VALID",
    status_reason="",
    max_vcpus=4 * 192,
    desired_vcpus=4 * 192,
    instance_type="trn2.48xlarge",
    capacity=CAPACITY,
    nodes_joined=4,
)
JOB = Job(
    id="one",
    name="pretrain",
    status="RUNNABLE",
    status_reason="",
    nodes=4,
    vcpus=192,
    memory_mib=2_013_265,
    share="default",
)
FREE = PendingJob(
    now=NOW,
    job=JOB,
    queue="training",
    queue_enabled=True,
    queue_status="VALID",
    queue_status_reason="",
    environments=(ENVIRONMENT,),
    ahead=(),
    running=(),
    quota=None,
)

Change = Callable[[PendingJob], PendingJob]


def job(**changes: object) -> Change:
    return lambda waiting: replace(waiting, job=replace(waiting.job, **changes))  # type: ignore[arg-type]


def environment(**changes: object) -> Change:
    return lambda waiting: replace(
        waiting,
        environments=(replace(waiting.environments[0], **changes),),  # type: ignore[arg-type]
    )


def block(**changes: object) -> Change:
    changed = replace(BLOCK, **changes)  # type: ignore[arg-type]
    return environment(capacity=replace(CAPACITY, reservation=changed))


PACKED = tuple(
    QueuedJob(id=f"small-{index}", nodes=1, share=None, hosts=frozenset({"host"})) for index in range(5)
)


SHARED = tuple(
    QueuedJob(id=f"part-{index}", nodes=1, share=None, hosts=frozenset({f"host-{index}"}), vcpus=100)
    for index in range(4)
)
LICENSE = Consumable(name="license", needed=2, total=4, free=2)


def small(vcpus: int) -> Change:
    """A job of one container where each of four nodes runs one of 100 vCPUs."""
    return lambda waiting: job(nodes=1, multi_node=False, vcpus=vcpus)(queue(running=SHARED)(waiting))


def group(**changes: object) -> Change:
    return environment(group="fleet", **changes)


def queue(**changes: object) -> Change:
    return lambda waiting: replace(waiting, **changes)  # type: ignore[arg-type]


def names(waiting: PendingJob) -> list[str]:
    return [one.reason for one in diagnose(waiting)]


HEAD = (QueuedJob(id="head", nodes=4, share="default"),)
OTHERS_HEAD = (QueuedJob(id="head", nodes=4, share="research"),)
TRN_QUOTA = Quota(name="Running On-Demand Trn instances", vcpus=767, request="aws service-quotas ...")
DRAINED = timedelta(minutes=40)  # before the end; docs/concepts/capacity-lifecycle.md
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("reason", "holds", "holds_not"),
    [
        (
            "insufficient-capacity",
            job(status_reason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - no capacity"),
            job(status_reason="retrying"),
        ),
        (
            "misconfiguration",
            job(status_reason="MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - too large"),
            job(status_reason="the MISCONFIGURATION: of yesterday"),
        ),
        (
            "action-required",
            job(status_reason="ACTION_REQUIRED - CE(s) associated with the job queue are invalid."),
            job(status_reason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - ACTION_REQUIRED"),
        ),
        (
            "undetermined",
            job(status_reason="UNDETERMINED - Batch job is blocked, root cause is undetermined."),
            job(status_reason="not UNDETERMINED"),
        ),
        (
            "queue-invalid",
            queue(queue_status="INVALID", queue_status_reason="no environment"),
            queue(queue_status="UPDATING"),
        ),
        ("queue-disabled", queue(queue_enabled=False), queue(queue_enabled=True)),
        (
            "environment-invalid",
            environment(status="INVALID", status_reason="CLIENT_ERROR - no instance profile"),
            environment(status="UPDATING"),
        ),
        ("environment-disabled", environment(enabled=False), environment(enabled=True)),
        (
            "reservation-unknown",
            environment(capacity=Capacity(id="cr-0", reservation=None)),
            environment(capacity=None),
        ),
        ("block-not-started", block(state="scheduled"), block(state="active")),
        ("reservation-over", block(state="payment-failed"), block(state="active")),
        ("block-drained", block(end=NOW + DRAINED), block(end=NOW + DRAINED + SECOND)),
        (
            "block-drained",
            block(ultraserver=True, end=NOW + timedelta(minutes=70)),
            block(ultraserver=True, end=NOW + timedelta(minutes=70) + SECOND),
        ),
        ("reservation-too-small", block(instances=3), block(instances=4)),
        (
            "more-nodes-than-the-environment",
            environment(max_vcpus=4 * 192 - 1),
            environment(max_vcpus=4 * 192),
        ),
        ("more-vcpus-than-the-type", job(vcpus=193), job(vcpus=192)),
        ("more-memory-than-the-type", job(memory_mib=2_013_266), job(memory_mib=2_013_265)),
        ("no-instances", environment(nodes_joined=0), environment(nodes_joined=1)),
        ("no-instances", environment(nodes_joined=0), environment(nodes_joined=0, desired_vcpus=0)),
        ("no-instances", environment(nodes_joined=0), environment(nodes_joined=None)),
        ("no-nodes-requested", group(desired_vcpus=0), group(desired_vcpus=192)),
        ("no-instances", group(nodes_joined=3), group(nodes_joined=4)),
        (
            "nodes-busy",
            queue(running=(QueuedJob(id="other", nodes=1, share=None),)),
            queue(running=()),
        ),
        ("nodes-busy", queue(running=(QueuedJob(id="other", nodes=1, share=None),)), queue(running=None)),
        # Five jobs of one container each share a node: one node is busy, not five.
        (
            "nodes-busy",
            lambda waiting: job(nodes=4)(queue(running=PACKED)(waiting)),
            lambda waiting: job(nodes=3)(queue(running=PACKED)(waiting)),
        ),
        ("behind-the-head", queue(ahead=HEAD), queue(ahead=())),
        ("behind-the-head", queue(ahead=HEAD), queue(ahead=None)),
        ("share-behind", queue(ahead=OTHERS_HEAD), queue(ahead=HEAD)),
        # A container of 90 vCPUs fits beside 100 of 192, one of 93 does not.
        ("nodes-busy", small(93), small(92)),
        ("another-instance-type", job(instance_type="trn1.32xlarge"), job(instance_type="trn2.48xlarge")),
        ("more-gpus-than-the-type", job(gpus=1), job(gpus=0)),
        (
            "more-gpus-than-the-type",
            lambda waiting: environment(instance_type="p5.48xlarge")(job(gpus=9)(waiting)),
            lambda waiting: environment(instance_type="p5.48xlarge")(job(gpus=8)(waiting)),
        ),
        ("consumable-used-up", queue(consumables=(replace(LICENSE, free=1),)), queue(consumables=(LICENSE,))),
        ("quota", queue(quota=TRN_QUOTA), queue(quota=replace(TRN_QUOTA, vcpus=768))),
        ("quota", queue(quota=TRN_QUOTA), queue(quota=None)),
    ],
)
def test_each_reason_is_reported_exactly_where_it_applies(
    reason: str, holds: Change, holds_not: Change
) -> None:
    assert reason in names(holds(FREE))
    assert reason not in names(holds_not(FREE))


def test_unblocked_job_has_no_reasons() -> None:
    assert diagnose(FREE) == []


def test_all_reasons_are_reported_with_evidence_and_remedy() -> None:
    waiting = block(state="scheduled", instances=0)(queue(queue_enabled=False, ahead=OTHERS_HEAD)(FREE))
    waiting = replace(waiting, environments=(replace(waiting.environments[0], enabled=False),))
    found = diagnose(waiting)

    assert [one.reason for one in found] == [
        "queue-disabled",
        "environment-disabled",
        "block-not-started",
        "behind-the-head",
        "share-behind",
    ]
    assert all(one.evidence and one.remedy for one in found)
    assert "2026-11-30 12:00 to 2026-12-02 12:00 UTC" in found[2].evidence


@pytest.mark.parametrize(("total", "remedy"), [(2, "Wait for the jobs"), (1, "Add to it")])
def test_a_consumable_resource_is_waited_for_or_added_to(total: int, remedy: str) -> None:
    (found,) = diagnose(queue(consumables=(replace(LICENSE, total=total, free=0),))(FREE))
    assert found.remedy.startswith(remedy)


def test_children_of_an_array_are_counted() -> None:
    (found,) = diagnose(job(status="RUNNING", children=(("RUNNING", 2), ("FAILED", 1)))(FREE))
    assert found.evidence.endswith("of its 3 children 2 RUNNING, 1 FAILED")


def test_an_array_of_which_some_children_wait_is_not_said_to_wait_for_nothing() -> None:
    (found,) = diagnose(job(status="RUNNING", children=(("RUNNABLE", 3), ("RUNNING", 3)))(FREE))
    assert found.remedy == "To see why a child waits: ultracluster jobs why one:N, with its index"


def test_unknown_instance_type_is_not_evaluated() -> None:
    unknown = environment(instance_type="trn9.48xlarge")(job(vcpus=1_000, memory_mib=10**9, nodes=1)(FREE))

    assert names(unknown) == ["more-nodes-than-the-environment"]  # by the vCPUs that the job itself asks for


@pytest.mark.parametrize(
    ("status", "words"),
    [("PENDING", "depends on"), ("RUNNING", "is running"), ("FAILED", "failed"), ("SUCCEEDED", "succeeded")],
)
def test_job_that_does_not_wait_is_reported_with_its_state(status: str, words: str) -> None:
    dependency = (("first", "FAILED"),) if status == "PENDING" else ()
    (found,) = diagnose(job(status=status, dependencies=dependency)(FREE))

    assert found.reason == status.lower()
    assert words in found.evidence
    assert ("ultracluster jobs why first" in found.remedy) == bool(dependency)


SPILL = replace(ENVIRONMENT, name="spill", capacity=None)
CHEAP, SMALL = replace(SPILL, spot=True), replace(SPILL, max_vcpus=192)
FULL = replace(ENVIRONMENT, capacity=replace(CAPACITY, available=0), nodes_joined=0, desired_vcpus=0)


def sources(*environments: Environment, **changes: object) -> PendingJob:
    return job(**changes)(replace(FREE, environments=environments))


@pytest.mark.parametrize(
    ("reason", "holds", "holds_not"),
    [
        ("held-by-the-first-source", sources(FULL, SPILL), sources(FULL, SPILL, multi_node=False)),
        ("held-by-the-first-source", sources(FULL, SPILL), sources(replace(FULL, enabled=False), SPILL)),
        ("held-by-the-first-source", sources(FULL, SPILL), sources(FULL, replace(SPILL, enabled=False))),
        (
            "held-by-the-first-source",
            sources(FULL, SPILL),
            sources(FULL, replace(SPILL, max_vcpus=4 * 192 - 1)),
        ),
        ("held-by-the-first-source", sources(FULL, SPILL), sources(replace(FULL, status="INVALID"), SPILL)),
        ("held-by-the-first-source", sources(FULL, SPILL), sources(replace(FULL, nodes_joined=4), SPILL)),
        (
            "held-by-the-first-source",
            sources(SPILL, FULL, status_reason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"),
            sources(SPILL, FULL),
        ),
        (
            "spot-runs-no-multi-node-jobs",
            sources(ENVIRONMENT, CHEAP),
            sources(ENVIRONMENT, CHEAP, multi_node=False),
        ),
        ("more-nodes-than-the-environment", sources(SMALL, SMALL), sources(ENVIRONMENT, SMALL)),
    ],
)
def test_reasons_about_several_sources_apply_exactly_there(
    reason: str, holds: PendingJob, holds_not: PendingJob
) -> None:
    assert reason in names(holds)
    assert reason not in names(holds_not)


def test_remedy_of_an_invalid_environment_makes_aws_batch_check_it_again() -> None:
    blocked = job(status_reason="ACTION_REQUIRED - CE(s) associated with the job queue are invalid.")(FREE)
    invalid = environment(status="INVALID", status_reason="CLIENT_ERROR - no instance profile")(blocked)
    by_reason = {one.reason: one for one in diagnose(invalid)}
    remedy = by_reason["environment-invalid"].remedy
    assert "update-compute-environment --compute-environment nodes --state DISABLED" in remedy
    assert "--state ENABLED" in remedy
    assert "deploy again" not in remedy
    assert "described below" in by_reason["action-required"].remedy
    assert "Nothing to do" in diagnose(blocked)[0].remedy


def test_a_group_without_a_block_is_sized_by_its_user() -> None:
    (reason,) = diagnose(group(desired_vcpus=0, capacity=None)(FREE))

    assert "set-desired-capacity --auto-scaling-group-name fleet --desired-capacity 4" in reason.remedy


@pytest.mark.parametrize("in_block", [True, False])
def test_launches_into_a_block_are_not_said_to_need_a_quota(*, in_block: bool) -> None:
    waiting = environment(nodes_joined=0, capacity=replace(CAPACITY, is_block=in_block))(FREE)
    (reason,) = diagnose(waiting)
    said = (
        "running instances of a Capacity Block need no quota"
        if in_block
        else "launches (no capacity, a quota)"
    )
    assert said in reason.remedy
