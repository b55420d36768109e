import gzip
import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import botocore
import pytest
from tests.unit.ultracluster.builders import (
    RESERVATION,
    ZONE,
    block,
    of_type,
    only,
    queue,
    ultra_cluster,
)

from ultracluster import (
    BlockLifecycle,
    CapacityBlock,
    CapacityReservation,
)
from ultracluster.nodes.node_fleet import NodeFleet
from ultracluster.operations.block_lifecycle import check_lifecycle
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def lifecycle(stack: cdk.Stack, **changes: Any) -> BlockLifecycle:
    if "queue" not in changes:
        changes["queue"] = queue(stack, capacity=block())
    return BlockLifecycle(stack, "Lifecycle", **{"block": block()} | changes)


def statements(stack: cdk.Stack) -> dict[str, dict[str, Any]]:
    """What the function may do, by sid."""
    logical_id = only(stack, "AWS::Lambda::Function")["Role"]["Fn::GetAtt"][0]
    template = cdk.assertions.Template.from_stack(stack)
    role = template.find_resources("AWS::IAM::Role")[logical_id]["Properties"]
    assert "ManagedPolicyArns" not in role
    # No other policy adds to it.
    assert {"Ref": logical_id} not in [
        each for policy in of_type(stack, "AWS::IAM::Policy") for each in policy["Properties"]["Roles"]
    ]
    (policy,) = role["Policies"]
    return {each["Sid"]: each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow"}


def actions(statement: dict[str, Any]) -> list[str]:
    action = statement["Action"]
    return list(action) if isinstance(action, list) else [action]


def test_wakes_up_every_minute_and_at_every_event_under_both_of_its_names(stack: cdk.Stack) -> None:
    lifecycle(stack)
    clock, at_events = sorted(
        (each["Properties"] for each in of_type(stack, "AWS::Events::Rule")),
        key=lambda rule: "EventPattern" in rule,
    )
    assert clock["ScheduleExpression"] == "rate(1 minute)"
    assert at_events["EventPattern"] == {
        "source": ["aws.ec2"],
        "detail-type": [
            "Capacity Block Delivered",
            "Capacity Block Reservation Delivered",
            "Capacity Block Expiration Warning",
            "Capacity Block Reservation Expiration Warning",
        ],
        "detail": {"capacity-reservation-id": [RESERVATION]},
    }
    function = {"Fn::GetAtt": [next(iter(function_ids(stack))), "Arn"]}
    assert [rule["Targets"][0]["Arn"] for rule in (clock, at_events)] == [function, function]


def test_the_function_is_exposed(stack: cdk.Stack) -> None:
    made = lifecycle(stack)
    assert made.function is made.function
    alarm = made.function.metric_throttles().create_alarm(stack, "Mine", threshold=1, evaluation_periods=1)
    arn, name = stack.resolve([made.function.function_arn, made.function.function_name])
    (function,) = function_ids(stack)
    assert arn == {"Fn::GetAtt": [function, "Arn"]}
    mine = cdk.assertions.Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm")[
        stack.get_logical_id(alarm.node.default_child)
    ]
    assert mine["Properties"]["Dimensions"] == [{"Name": "FunctionName", "Value": name}]


def function_ids(stack: cdk.Stack) -> list[str]:
    template = cdk.assertions.Template.from_stack(stack)
    return list(template.find_resources("AWS::Lambda::Function"))


def test_the_function_knows_its_topic_and_its_table(stack: cdk.Stack) -> None:
    made = lifecycle(stack)
    variables = only(stack, "AWS::Lambda::Function")["Environment"]["Variables"]
    assert variables["UC_TOPIC"] == stack.resolve(made.topic.topic_arn)
    assert variables["UC_STATE_TABLE"] == {"Ref": logical_id(stack, "AWS::DynamoDB::Table")}


def logical_id(stack: cdk.Stack, resource_type: str) -> str:
    (name,) = cdk.assertions.Template.from_stack(stack).find_resources(resource_type)
    return name


@pytest.mark.parametrize("launched_by", ["batch", "auto-scaling"])
def test_only_nodes_of_the_cluster_in_its_block_may_be_terminated_and_only_its_hosts_drained(
    stack: cdk.Stack, launched_by: Any
) -> None:
    capacity = CapacityBlock(reservation_id=RESERVATION, zone_id=ZONE, launched_by=launched_by)
    cluster = ultra_cluster(stack, capacity=capacity, cluster_name="pretrain", sick_nodes="replace")
    (given,) = [
        {each["Sid"]: each for each in policy["PolicyDocument"]["Statement"]}
        for role in of_type(stack, "AWS::IAM::Role")
        for policy in role["Properties"].get("Policies", ())
        if policy["PolicyName"] == "Lifecycle"
    ]
    assert given["ReplaceNodes"]["Action"] == "ec2:TerminateInstances"
    assert given["ReplaceNodes"]["Condition"] == {
        "StringEquals": {
            "aws:ResourceTag/ultracluster:cluster": "pretrain",
            "aws:ResourceTag/ultracluster:capacity-reservation": RESERVATION,
        }
    }
    drains = given["DrainNodes"]
    assert drains["Action"] == "ecs:UpdateContainerInstancesState"
    assert drains["Condition"] == {"ArnLike": {"ecs:cluster": given["FindNodesToDrain"]["Resource"]}}
    assert cluster.metrics
    assert given["ReadFaultsOfNodes"]["Resource"] == stack.resolve(cluster.metrics.log_group.log_group_arn)


def test_a_life_cycle_that_only_tells_may_end_no_node_and_one_without_metrics_cannot_replace(
    stack: cdk.Stack,
) -> None:
    jobs = queue(stack, capacity=block())
    lifecycle(stack, queue=jobs)
    assert not {"ReplaceNodes", "DrainNodes", "ReadFaultsOfNodes"} & statements(stack).keys()
    with pytest.raises(FindingsError, match="UC4186"):
        BlockLifecycle(stack, "Other", block=block(), queue=jobs, sick_nodes="replace")


@pytest.mark.parametrize(("refusals", "found"), [(0, ["UC4129"]), (1, []), (100, []), (101, ["UC4129"])])
def test_refusals_that_close_the_environment_have_bounds(refusals: int, found: list[str]) -> None:
    assert [finding.code for finding in check_lifecycle(None, refusals)] == found


def operations(service: str) -> set[str]:
    """The calls of a service by botocore's model."""
    model = max(Path(botocore.__file__).parent.glob(f"data/{service}/*/service-2.json.gz"))
    return set(json.loads(gzip.decompress(model.read_bytes()))["operations"])


def test_what_it_changes_is_named_or_limited_to_its_own_nodes(stack: cdk.Stack) -> None:
    training = queue(stack, capacity=block())
    lifecycle(stack, queue=training)
    may = statements(stack)
    assert may["OpenAndCloseEnvironment"]["Resource"] == stack.resolve(training.compute_environment_arn)
    assert may["OpenAndCloseQueue"]["Resource"] == stack.resolve(training.job_queue_arn)
    assert may["OnNodesOfTheBlock"]["Condition"] == {
        "StringEquals": {"ssm:resourceTag/ultracluster:capacity-reservation": RESERVATION}
    }
    assert may["OnNodesOfFormerBlocks"]["Condition"] == {
        "StringEquals": {"ssm:resourceTag/ultracluster:cluster": stack.stack_name},
        "StringLike": {"ssm:resourceTag/ultracluster:capacity-reservation": "cr-*"},
    }
    assert may["ReadReasonsOfNodes"]["Condition"] == {
        "StringEquals": {"aws:ResourceTag/ultracluster:capacity-reservation": RESERVATION}
    }
    assert may["Remember"]["Resource"] == {"Fn::GetAtt": [logical_id(stack, "AWS::DynamoDB::Table"), "Arn"]}
    assert [sid for sid, each in may.items() if each["Resource"] == "*"] == ["Look"]
    assert all(action.split(":")[1].startswith(("Describe", "List")) for action in actions(may["Look"]))
    # The nodes carry what the condition asks for.
    (tags,) = [
        each["Tags"]
        for each in only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["TagSpecifications"]
        if each["ResourceType"] == "instance"
    ]
    assert {"Key": "ultracluster:capacity-reservation", "Value": RESERVATION} in tags
    assert {"Key": "ultracluster:cluster", "Value": stack.stack_name} in tags


@pytest.mark.parametrize(
    "capacity",
    [
        None,
        CapacityBlock(reservation_id="cr-0123456789abcdef1", zone_id=ZONE),
        CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE),
    ],
)
def test_rejects_a_queue_whose_nodes_are_not_of_the_block(stack: cdk.Stack, capacity: object) -> None:
    training = queue(stack, capacity=capacity)
    with pytest.raises(FindingsError, match="UC4116"):
        lifecycle(stack, queue=training)
    assert stack.node.try_find_child("Lifecycle") is None


def test_function_sizes_the_auto_scaling_group_of_its_block_only(stack: cdk.Stack) -> None:
    source = block()
    training = queue(stack, capacity=source)
    fleet = NodeFleet(stack, "Fleet", nodes=training.nodes, max_nodes=4)
    life = lifecycle(stack, block=source, queue=training, fleet=fleet)
    may = statements(stack)["SizeGroup"]
    assert actions(may) == ["autoscaling:SetDesiredCapacity", "autoscaling:SetInstanceProtection"]
    group = stack.resolve(fleet.auto_scaling_group_name)
    assert may["Resource"]["Fn::Join"][1][-1] == group
    variables = only(stack, "AWS::Lambda::Function")["Environment"]["Variables"]
    assert variables["UC_AUTO_SCALING_GROUP"] == group
    assert life.block is source
