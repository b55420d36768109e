"""What the local AWS does not simulate is refused by its name, and nothing is made of it."""

from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws
from ultracluster_local.services.not_simulated import NOT_SIMULATED

pytestmark = pytest.mark.slow

FUNCTION = {"FunctionName": "f"}
GROUP = {"AutoScalingGroupName": "g"}
HOOK = GROUP | {"LifecycleHookName": "drain"}
BUCKET = {"Bucket": "mine"}

# What moto would do, by service.
CALLS: dict[str, dict[str, dict[str, Any]]] = {
    "ec2": {
        "CreateFleet": {"LaunchTemplateConfigs": [], "TargetCapacitySpecification": {"TotalTargetCapacity": 1}},
        "CreateFlowLogs": {"ResourceIds": ["vpc-0123456789abcdef0"], "ResourceType": "VPC", "TrafficType": "ALL", "LogGroupName": "g"},
    },
    "lambda": {"CreateEventSourceMapping": FUNCTION | {"EventSourceArn": f"arn:aws:sqs:us-east-1:{ACCOUNT}:q"}},
    "logs": {
        "PutSubscriptionFilter": {"logGroupName": "g", "filterName": "f", "filterPattern": "", "destinationArn": f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:f"},
    },
    "s3": {
        "PutBucketAccelerateConfiguration": BUCKET | {"AccelerateConfiguration": {"Status": "Enabled"}},
        "PutBucketCors": BUCKET | {"CORSConfiguration": {"CORSRules": [{"AllowedMethods": ["GET"], "AllowedOrigins": ["*"]}]}},
        "PutBucketWebsite": BUCKET | {"WebsiteConfiguration": {"IndexDocument": {"Suffix": "index.html"}}},
    },
    "secretsmanager": {"RotateSecret": {"SecretId": "one"}},
}  # fmt: skip

# What the local AWS has in moto's place.
MISSING: dict[str, dict[str, dict[str, Any]]] = {
    "autoscaling": {
        "AttachLoadBalancers": GROUP | {"LoadBalancerNames": ["b"]},
        "CompleteLifecycleAction": HOOK | {"LifecycleActionResult": "CONTINUE"},
        "DeleteLifecycleHook": HOOK,
        "DescribeLifecycleHooks": GROUP,
        "DetachInstances": GROUP | {"ShouldDecrementDesiredCapacity": True},
        "EnableMetricsCollection": GROUP | {"Granularity": "1Minute"},
        "EnterStandby": GROUP | {"ShouldDecrementDesiredCapacity": True},
        "ExecutePolicy": GROUP | {"PolicyName": "p"},
        "PutLifecycleHook": HOOK,
        "PutNotificationConfiguration": GROUP | {"TopicARN": "t", "NotificationTypes": []},
        "PutScalingPolicy": GROUP | {"PolicyName": "p"},
        "PutWarmPool": GROUP,
        "RecordLifecycleActionHeartbeat": HOOK,
        "StartInstanceRefresh": GROUP,
    },
    "cloudformation": {
        "DetectStackDrift": {"StackName": "s"},
    },
}


@pytest.fixture(scope="module")
def local(local_aws_server: LocalAws) -> LocalAws:
    local_aws_server.reset()
    local_aws_server.client("s3").create_bucket(Bucket="mine")
    return local_aws_server


def call(local: LocalAws, service: str, operation: str, given: dict[str, Any]) -> tuple[str, str]:
    client = local.client(service)
    method = next(name for name, one in client.meta.method_to_api_mapping.items() if one == operation)
    return refusal(getattr(client, method), **given)


def rows(table: dict[str, dict[str, dict[str, Any]]]) -> list[Any]:
    return [
        pytest.param(service, operation, given, id=operation)
        for service, calls in table.items()
        for operation, given in calls.items()
    ]


@pytest.mark.parametrize(("service", "operation", "given"), rows(CALLS))
def test_an_operation_of_moto_that_is_not_simulated_is_refused_by_name(
    local: LocalAws, service: str, operation: str, given: dict[str, Any]
) -> None:
    answer = f"The local AWS does not simulate {operation}; see `ultracluster docs local-aws`."

    assert call(local, service, operation, given) == ("InvalidAction", answer)


def test_each_of_them_is_asked_for() -> None:
    assert {service: set(calls) for service, calls in CALLS.items()} == {
        service: set(operations) for service, operations in NOT_SIMULATED.items()
    }


@pytest.mark.parametrize(("service", "operation", "given"), rows(MISSING))
def test_an_operation_that_ours_lack_is_refused_by_name(
    local: LocalAws, service: str, operation: str, given: dict[str, Any]
) -> None:
    answer = f"The local AWS has no {service} {operation}; see `ultracluster docs local-aws`."

    assert call(local, service, operation, given) == ("InvalidAction", answer)


def test_a_lifecycle_hook_in_a_template_is_refused_by_name(stacks: Any) -> None:
    hook = {"AutoScalingGroupName": "g", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}
    template = {"Resources": {"Hook": {"Type": "AWS::AutoScaling::LifecycleHook", "Properties": hook}}}

    with pytest.raises(
        stacks.api.exceptions.ClientError, match="does not simulate AWS::AutoScaling::LifecycleHook"
    ):
        stacks.create("one", template)
    assert stacks.api.describe_stacks()["Stacks"] == []
