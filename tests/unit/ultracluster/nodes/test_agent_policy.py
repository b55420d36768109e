"""The ECS agent of a node acts in the ECS cluster of its environment, whatever starts the node."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from constructs import Construct
from tests.unit.ultracluster.builders import network, nodes, queue

from ultracluster import OnDemand, TrainingQueue
from ultracluster.nodes.node_group import JoinedCluster

pytestmark = pytest.mark.slow

CLUSTER = "arn:aws:ecs:us-east-2:123456789012:cluster/AWSBatch-Mine-0a1b"


def _policies(stack: cdk.Stack) -> dict[str, dict[str, Any]]:
    found = assertions.Template.from_stack(stack).find_resources("AWS::IAM::Policy")
    return {name: each for name, each in found.items() if "AgentPolicy" in name}


def _statements(policy: dict[str, Any]) -> dict[str, Any]:
    return {each["Sid"]: each for each in policy["Properties"]["PolicyDocument"]["Statement"]}


def test_the_cluster_is_named_after_the_environment_of_aws_batch(stack: cdk.Stack) -> None:
    queue(stack)
    (policy,) = _policies(stack).values()
    (environment,) = assertions.Template.from_stack(stack).find_resources("AWS::Batch::ComputeEnvironment")
    named = {
        "Fn::Select": [
            1,
            {"Fn::Split": ["compute-environment/", {"Fn::GetAtt": [environment, "ComputeEnvironmentArn"]}]},
        ]
    }
    cluster = _statements(policy)["EcsAgent"]["Resource"]["Fn::Join"][1]
    assert cluster[-2:] == [named, "-*"]
    assert cluster[-3].endswith(":cluster/AWSBatch-")
    asked = _statements(policy)["EcsAgentOfNode"]["Condition"]["ArnLike"]["ecs:cluster"]["Fn::Join"][1]
    assert asked == cluster


def test_no_job_can_be_submitted_before_nodes_may_join(stack: cdk.Stack) -> None:
    queue(stack)
    (made,) = assertions.Template.from_stack(stack).find_resources("AWS::Batch::JobQueue").values()
    assert set(made["DependsOn"]) == _policies(stack).keys()


def test_a_queue_may_be_in_another_stack_than_its_nodes(stack: cdk.Stack) -> None:
    other = cdk.Stack(cdk.App.of(stack), "Other", env=cdk.Environment(region=stack.region))
    TrainingQueue(other, "Queue", nodes=nodes(stack), max_nodes=1)
    assert not _policies(stack)
    (policy,) = _policies(other).values()
    assert "Fn::ImportValue" in policy["Properties"]["Roles"][0]


def test_each_environment_of_a_queue_has_its_policy(stack: cdk.Stack) -> None:
    shared = network(stack)
    both = [
        nodes(Construct(stack, name), network=shared, capacity=capacity)
        for name, capacity in (("One", None), ("Other", OnDemand(name="spill")))
    ]
    TrainingQueue(stack, "Queue", nodes=both, max_nodes=1)
    assert len(_policies(stack)) == 2


def test_nodes_of_a_group_have_the_cluster_in_their_role_and_no_other_policy(stack: cdk.Stack) -> None:
    joins = JoinedCluster(compute_environment_arn="arn", ecs_cluster_arn=CLUSTER)
    TrainingQueue(stack, "Queue", nodes=nodes(stack, joins=joins), max_nodes=1)
    template = assertions.Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::IAM::Role",
        {
            "Policies": [
                {
                    "PolicyDocument": {
                        "Statement": assertions.Match.array_with(
                            [
                                assertions.Match.object_like({"Sid": "EcsAgent", "Resource": CLUSTER}),
                                assertions.Match.object_like(
                                    {
                                        "Sid": "EcsAgentOfNode",
                                        "Condition": {"ArnLike": {"ecs:cluster": CLUSTER}},
                                    }
                                ),
                            ]
                        )
                    }
                }
            ]
        },
    )
    assert not _policies(stack)
