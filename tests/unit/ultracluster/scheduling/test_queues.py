"""Several queues over the same nodes, how each divides them, and when a job that waits is cancelled."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import Duration, assertions
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import (
    IMAGE,
    IMAGE_ID,
    RESERVATION,
    ZONE,
    block,
    new_stack,
    of_type,
    only,
    queue,
)

from ultracluster import (
    Capacity,
    CapacityReservation,
    FairShare,
    OnDemandCapacity,
    ReservationGroup,
    SpotCapacity,
    TrainingQueue,
    UltraCluster,
    WaitLimits,
)
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth

DAY = Duration.days(1)
GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/training"


@pytest.fixture(scope="module")
def team() -> tuple[UltraCluster, TrainingQueue, TrainingQueue]:
    """A cluster of a block and on-demand nodes, with two queues beside its own."""
    stack = new_stack()
    cluster = UltraCluster(
        stack,
        "Cluster",
        instance_type="trn2.48xlarge",
        node_count=4,
        image_id=IMAGE_ID,
        capacity=[block(), OnDemandCapacity(name="spill", max_nodes=1)],
        queue_priority=5,
        fair_share=FairShare(parts={"research": 4, "eval": 3}, compute_reservation_percent=10),
    )
    urgent = cluster.add_queue("urgent", priority=10)
    small = cluster.add_queue(
        "small", sources=["spill"], wait_limits=WaitLimits(insufficient_capacity=Duration.hours(2))
    )
    return cluster, urgent, small


@pytest.fixture(scope="module")
def resources(team: tuple[UltraCluster, TrainingQueue, TrainingQueue]) -> Mapping[str, Any]:
    """The resources of its template."""
    return dict(assertions.Template.from_stack(cdk.Stack.of(team[0])).to_json()["Resources"])


def shown(of: TrainingQueue, resources: Mapping[str, Any]) -> dict[str, Any]:
    logical_id = cdk.Stack.of(of).resolve(of.job_queue_arn)["Fn::GetAtt"][0]
    return dict(resources[logical_id]["Properties"])


def test_queues_share_the_same_compute_environments(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    cluster, urgent, small = team
    order = shown(cluster.queue, resources)["ComputeEnvironmentOrder"]
    assert shown(urgent, resources)["ComputeEnvironmentOrder"] == order
    assert shown(small, resources)["ComputeEnvironmentOrder"] == [{**order[1], "Order": 1}]
    assert sum(each["Type"] == "AWS::Batch::ComputeEnvironment" for each in resources.values()) == 2
    assert (urgent.max_nodes, small.max_nodes) == (4, 1)


def test_the_higher_priority_comes_first(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    cluster, urgent, small = team
    assert [shown(each, resources)["Priority"] for each in (cluster.queue, urgent, small)] == [5, 10, 1]


def test_jobs_of_every_queue_of_the_block_are_notified_and_terminated(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    cluster, urgent, _ = team
    (variables,) = (
        each["Properties"]["Environment"]["Variables"]
        for each in resources.values()
        if "UC_RESERVATION_ID" in each.get("Properties", {}).get("Environment", {}).get("Variables", {})
    )
    stack = cdk.Stack.of(cluster)
    assert variables["UC_JOB_QUEUE"] == stack.resolve(cluster.queue.job_queue_arn)
    assert variables["UC_ADDITIONAL_JOB_QUEUES"] == stack.resolve(urgent.job_queue_arn)


def test_the_log_group_is_one_for_all(team: tuple[UltraCluster, TrainingQueue, TrainingQueue]) -> None:
    cluster, urgent, _ = team
    assert urgent.log_group is cluster.queue.log_group


def test_rejects_a_source_that_the_cluster_does_not_have(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue],
) -> None:
    with pytest.raises(FindingsError, match="UC6312: sources: got 'spil'"):
        team[0].add_queue("wrong", sources=["spil"])


def test_more_parts_are_a_smaller_weight(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    policy = shown(team[0].queue, resources)["SchedulingPolicyArn"]["Fn::GetAtt"][0]
    assert resources[policy]["Properties"]["FairsharePolicy"] == {
        "ComputeReservation": 10,
        "ShareDecaySeconds": 86_400,
        "ShareDistribution": [
            {"ShareIdentifier": "default", "WeightFactor": 1},
            {"ShareIdentifier": "eval", "WeightFactor": 0.3333},
            {"ShareIdentifier": "research", "WeightFactor": 0.25},
        ],
    }


@pytest.mark.parametrize("identifier", ["", "team-a", "team a", "*", "a**", "a*b", "a" * 256])
def test_rejects_a_malformed_share_identifier(identifier: str) -> None:
    with pytest.raises(FindingsError, match="UC6301"):
        FairShare(parts={identifier: 1})


@pytest.mark.parametrize("identifier", ["a", "TeamA1", "Team*", "a" * 255])
def test_accepts_a_share_identifier(identifier: str) -> None:
    assert FairShare(parts={identifier: 1}).policy.share_distribution[0].share_identifier == identifier


@pytest.mark.parametrize(("parts", "weight"), [(1, 1.0), (1000, 0.001)])
def test_accepts_parts_up_to_the_bounds(parts: int, weight: float) -> None:
    assert FairShare(parts={"a": parts}).policy.share_distribution[0].weight_factor == weight


@pytest.mark.parametrize("parts", [0, 1001])
def test_rejects_parts_out_of_bounds(parts: int) -> None:
    with pytest.raises(FindingsError, match="UC6302"):
        FairShare(parts={"a": parts})


def test_rejects_identifiers_that_overlap() -> None:
    with pytest.raises(FindingsError, match=r"UC6303: parts: 'Team\*' also matches 'TeamB'"):
        FairShare(parts={"TeamB": 1, "Team*": 2})
    assert FairShare(parts={"TeamB": 1, "TeamA*": 2})


def test_rejects_more_shares_than_a_queue_can_have() -> None:
    assert FairShare(parts={f"a{each}": 1 for each in range(500)})
    with pytest.raises(FindingsError, match="UC6303: parts: got 501"):
        FairShare(parts={f"a{each}": 1 for each in range(501)})


@pytest.mark.parametrize("percent", [-1, 100])
def test_rejects_a_reservation_of_all_capacity(percent: int) -> None:
    with pytest.raises(FindingsError, match="UC6304"):
        FairShare(compute_reservation_percent=percent)
    assert FairShare(compute_reservation_percent=99).policy.compute_reservation == 99


@pytest.mark.parametrize("decay", [Duration.seconds(599), Duration.seconds(604_801)])
def test_rejects_a_decay_outside_the_limits_of_batch(decay: Duration) -> None:
    with pytest.raises(FindingsError, match="UC6313"):
        FairShare(decay=decay)
    assert FairShare(decay=Duration.minutes(10)).policy.share_decay_seconds == 600
    assert FairShare(decay=Duration.days(7)).policy.share_decay_seconds == 604_800


@pytest.mark.parametrize("priority", [-1, 1001])
def test_rejects_a_priority_out_of_bounds(stack: cdk.Stack, priority: int) -> None:
    environments = queue(stack).environments
    with pytest.raises(FindingsError, match="UC6305"):
        TrainingQueue(stack, "Other", environments=environments, priority=priority)
    for number, edge in enumerate((0, 1000)):
        assert TrainingQueue(stack, f"Edge{number}", environments=environments, priority=edge)


def test_a_limit_cancels_jobs_that_wait_for_unreserved_capacity(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    assert shown(team[2], resources)["JobStateTimeLimitActions"] == [
        {
            "Action": "CANCEL",
            "MaxTimeSeconds": 7200,
            "Reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
            "State": "RUNNABLE",
        }
    ]
    assert "JobStateTimeLimitActions" not in shown(team[0].queue, resources)


RESERVED = CapacityReservation.from_reservation_id(RESERVATION, zone_id=ZONE)
GATHERED = ReservationGroup.from_resource_group_arn(GROUP, zone_id=ZONE)


@pytest.mark.parametrize(
    ("source", "limits", "refused"),
    [
        (block(), WaitLimits(insufficient_capacity=DAY), True),
        (block(), WaitLimits(exceeds_environments=DAY), True),
        (block(), WaitLimits(exceeds_nodes=DAY), False),
        (RESERVED, WaitLimits(insufficient_capacity=DAY), True),
        (GATHERED, WaitLimits(insufficient_capacity=DAY), True),
        (RESERVED, WaitLimits(exceeds_environments=DAY), False),
        (OnDemandCapacity(), WaitLimits(insufficient_capacity=DAY, exceeds_environments=DAY), False),
    ],
)
def test_no_limit_cancels_a_job_that_waits_for_reserved_capacity(
    stack: cdk.Stack, source: Capacity, limits: WaitLimits, *, refused: bool
) -> None:
    behind = queue(stack, capacity=source).environments
    if refused:
        with pytest.raises(FindingsError, match="UC6307"):
            TrainingQueue(stack, "Limited", environments=behind, wait_limits=limits)
    else:
        assert TrainingQueue(stack, "Limited", environments=behind, wait_limits=limits)


@pytest.mark.parametrize("limit", [Duration.seconds(599), Duration.seconds(86_401)])
def test_rejects_a_limit_that_batch_does_not_support(limit: Duration) -> None:
    with pytest.raises(FindingsError, match="UC6306: exceeds_nodes"):
        WaitLimits(exceeds_nodes=limit)
    assert WaitLimits(exceeds_nodes=Duration.minutes(10), exceeds_environments=DAY).actions


def test_a_rule_reports_a_blocked_queue(stack: cdk.Stack) -> None:
    training = queue(stack)
    training.on_blocked("Blocked", targets.SnsTopic(sns.Topic(stack, "Topic")))
    assert only(stack, "AWS::Events::Rule")["EventPattern"] == {
        "source": ["aws.batch"],
        "detail-type": ["Batch Job Queue Blocked"],
        "detail": {"jobQueue": [stack.resolve(training.job_queue_arn)]},
    }


def test_spot_nodes_get_a_separate_queue(stack: cdk.Stack) -> None:
    cluster = UltraCluster(
        stack,
        "Cluster",
        instance_type="trn1.32xlarge",
        node_count=2,
        image_id=IMAGE_ID,
        zone_id=ZONE,
        capacity=[OnDemandCapacity(), SpotCapacity(name="spot", max_nodes=8)],
        queue_sources=[None],
    )
    spot = cluster.add_queue("spot", sources=["spot", None])
    assert [each.source_name for each in cluster.queue.environments] == [None]
    assert [each.source_name for each in spot.environments] == ["spot", None]
    assert cluster.add_multi_node_job("Train", image=IMAGE, command=["train.py"])
    cluster.add_single_node_job("Evaluate", image=IMAGE, command=["evaluate.py"], queue=spot)
    tags = [each["Properties"].get("Tags") for each in of_type(stack, "AWS::Batch::JobDefinition")]
    assert tags == [None, {"ultracluster:queue": stack.resolve(spot.job_queue_arn)}]
    assert spot.has_spot
    assert not cluster.queue.has_spot


def test_the_main_queue_uses_every_block(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=f"UC6314.*{RESERVATION}"):
        UltraCluster(
            stack,
            "Cluster",
            instance_type="trn2.48xlarge",
            node_count=2,
            image_id=IMAGE_ID,
            capacity=[block(), OnDemandCapacity(name="spill")],
            queue_sources=["spill"],
        )
    assert stack.node.try_find_child("Cluster") is None


def test_the_command_line_finds_additional_queues_by_a_tag(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    cluster, urgent, _ = team
    assert shown(urgent, resources)["Tags"] == {"ultracluster:queue-name": "urgent"}
    assert "Tags" not in shown(cluster.queue, resources)
