"""The watch of a cluster reads its queues and reservations."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import RESERVATION, block, nodes, only

from ultracluster import ClusterWatch, NodeMetrics, TrainingQueue

pytestmark = pytest.mark.slow


def test_the_watch_only_reads_and_looks_at_every_queue(watched: cdk.Stack) -> None:
    template = cdk.assertions.Template.from_stack(watched)
    (function,) = [
        each["Properties"]
        for name, each in template.find_resources("AWS::Lambda::Function").items()
        if name.startswith("ClusterWatch")
    ]
    variables = function["Environment"]["Variables"]
    assert variables["UC_RESERVATIONS"] == RESERVATION
    assert variables["UC_WITHOUT_RESERVATION"] == "no"
    queues = [
        each["Fn::GetAtt"][0] for each in variables["UC_JOB_QUEUES"]["Fn::Join"][1] if isinstance(each, dict)
    ]
    assert set(queues) == set(template.find_resources("AWS::Batch::JobQueue"))
    (role,) = [
        each["Properties"]
        for name, each in template.find_resources("AWS::IAM::Role").items()
        if name.startswith("ClusterWatch")
    ]
    (policy,) = role["Policies"]
    allowed = [each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow"]
    actions = {name for each in allowed for name in each["Action"]}
    assert actions == {
        "batch:DescribeComputeEnvironments",
        "batch:DescribeJobQueues",
        "batch:ListJobs",
        "cloudwatch:GetMetricData",
        "ec2:DescribeCapacityReservations",
        "ec2:DescribeInstances",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
    }


def test_the_watch_observes_its_queue_and_reservations(stack: cdk.Stack) -> None:
    reserved = nodes(stack, capacity=block())
    queue = TrainingQueue(stack, "Queue", nodes=reserved, max_nodes=4)
    metrics = NodeMetrics(stack, "Metrics", cluster_name="pretrain")
    ClusterWatch(stack, "Watch", metrics=metrics, queue=queue, node_groups=[reserved])

    variables = str(only(stack, "AWS::Lambda::Function")["Environment"]["Variables"])
    assert RESERVATION in variables
    assert str(stack.resolve(queue.job_queue_arn)) in variables
    assert "pretrain" in variables
