import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.neighbours import IMAGE_ID, block, nodes, of_type, only, queue

from ultracluster import ClusterPlacement, TrainingQueue
from ultracluster_catalog.findings import FindingsError

pytestmark = pytest.mark.synth


def resources_of_environment(stack: cdk.Stack) -> dict[str, object]:
    return dict(only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"])


@pytest.mark.parametrize(
    ("instance_type", "max_nodes", "vcpus"),
    [("trn2.48xlarge", 4, 4 * 192), ("trn1.32xlarge", 2, 2 * 128), ("trn2.48xlarge", 1000, 192_000)],
)
def test_the_environment_holds_exactly_the_nodes_asked_for(
    stack: cdk.Stack, instance_type: str, max_nodes: int, vcpus: int
) -> None:
    queue(stack, max_nodes=max_nodes, instance_type=instance_type)
    assert resources_of_environment(stack)["MaxvCpus"] == vcpus
    assert resources_of_environment(stack)["MinvCpus"] == 0
    assert resources_of_environment(stack)["InstanceTypes"] == [instance_type]


@pytest.mark.parametrize("max_nodes", [0, -1, 1001])
def test_refuses_a_number_of_nodes_that_no_job_can_have(stack: cdk.Stack, max_nodes: int) -> None:
    with pytest.raises(FindingsError, match="UC4101"):
        queue(stack, max_nodes=max_nodes)


def test_a_new_launch_template_reaches_the_environment_without_replacing_it(stack: cdk.Stack) -> None:
    queue(stack)
    properties = only(stack, "AWS::Batch::ComputeEnvironment")
    version = resources_of_environment(stack)["LaunchTemplate"]["Version"]
    assert version["Fn::GetAtt"][1] == "LatestVersionNumber"
    assert properties["ReplaceComputeEnvironment"] is False
    # Only these strategies can be updated in place; BEST_FIT cannot.
    assert resources_of_environment(stack)["AllocationStrategy"] == "BEST_FIT_PROGRESSIVE"
    # A name, tags or a role of its own would make later changes replace it.
    assert not {"ComputeEnvironmentName", "Tags", "ServiceRole"} & properties.keys()


def test_an_update_does_not_end_running_jobs(stack: cdk.Stack) -> None:
    queue(stack)
    assert only(stack, "AWS::Batch::ComputeEnvironment")["UpdatePolicy"] == {
        "TerminateJobsOnUpdate": False,
        "JobExecutionTimeoutMinutes": 7200,
    }


def test_tasks_get_the_group_of_the_cluster(stack: cdk.Stack) -> None:
    training = queue(stack)
    group = stack.resolve(training.nodes.network.security_group.security_group_id)
    assert resources_of_environment(stack)["SecurityGroupIds"] == [group]


def test_the_pinned_image_wins(stack: cdk.Stack) -> None:
    queue(stack)
    assert resources_of_environment(stack)["Ec2Configuration"] == [
        {"ImageType": "ECS_AL2023", "ImageIdOverride": IMAGE_ID}
    ]


def test_on_demand_nodes_are_placed_and_those_of_a_block_are_not(stack: cdk.Stack) -> None:
    placement = ClusterPlacement(stack, "Placement")
    TrainingQueue(stack, "Queue", nodes=nodes(stack, placement=placement), max_nodes=2)
    assert resources_of_environment(stack)["PlacementGroup"] == stack.resolve(placement.placement_group_name)


def test_a_block_has_no_placement_group(stack: cdk.Stack) -> None:
    queue(stack, capacity=block())
    assert "PlacementGroup" not in resources_of_environment(stack)


def test_the_queue_shares_fairly_and_cancels_nothing_that_waits(stack: cdk.Stack) -> None:
    queue(stack)
    properties = only(stack, "AWS::Batch::JobQueue")
    assert properties["SchedulingPolicyArn"]
    assert "JobStateTimeLimitActions" not in properties
    assert len(properties["ComputeEnvironmentOrder"]) == 1


def test_logs_are_kept_for_three_months_and_survive_the_stack(stack: cdk.Stack) -> None:
    queue(stack)
    (group,) = of_type(stack, "AWS::Logs::LogGroup")
    assert group["Properties"] == {"RetentionInDays": 90}
    assert group["DeletionPolicy"] == "Retain"
