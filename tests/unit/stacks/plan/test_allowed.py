"""What ends jobs in time and tells people stays on, or the plan stops."""

from itertools import permutations
from typing import Any

import pytest
from tests.unit.stacks.plan.small_stacks import stack

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_stacks.plan import StackTemplate, compare
from ultracluster_stacks.plan.allowed import SAFE

RULE, ALARM, TOPIC = "AWS::Events::Rule", "AWS::CloudWatch::Alarm", "AWS::SNS::Topic"
FUNCTION, SUBSCRIPTION = "AWS::Lambda::Function", "AWS::SNS::Subscription"
JOB, QUEUE, ENVIRONMENT = (
    f"AWS::Batch::{name}" for name in ("JobDefinition", "JobQueue", "ComputeEnvironment")
)
COMPOSITE = "AWS::CloudWatch::CompositeAlarm"
BUCKET, BUDGET, GROUP = "AWS::S3::Bucket", "AWS::Budgets::Budget", "AWS::AutoScaling::AutoScalingGroup"
INGRESS = "AWS::EC2::SecurityGroupIngress"
BLOCK = {"UC_RESERVATION_ID": "cr-1", "UC_JOB_QUEUE": "q", "UC_CHECKPOINT_LEAD_SECONDS": "1500"}


def template(**changes: Any) -> dict[str, Any]:
    """A function with what belongs to it; a change sets properties of a resource, and None removes it."""
    properties: dict[str, tuple[str, dict[str, Any]]] = {
        "Drain": (FUNCTION, {"Timeout": 120, "Environment": {"Variables": BLOCK}}),
        "Rule": (
            RULE,
            {
                "ScheduleExpression": "rate(1 minute)",
                "EventPattern": {"source": ["aws.ec2"]},
                "Targets": [{"Arn": {"Ref": "Drain"}}],
            },
        ),
        "Permission": (
            "AWS::Lambda::Permission",
            {"FunctionName": {"Ref": "Drain"}, "SourceArn": {"Fn::GetAtt": ["Rule", "Arn"]}},
        ),
        "Alarm": (ALARM, {"Dimensions": [{"Value": {"Ref": "Drain"}}], "AlarmActions": [{"Ref": "Topic"}]}),
        "Topic": (TOPIC, {"DisplayName": "t"}),
        "Mail": ("AWS::SNS::Subscription", {"TopicArn": {"Ref": "Topic"}, "Protocol": "email"}),
        "Queue": ("AWS::Batch::JobQueue", {"Priority": 1, "ComputeEnvironmentOrder": [{"Order": 1}]}),
    }
    return {
        name: {"Type": kind, "Properties": own | (changes.get(name) or {})}
        for name, (kind, own) in properties.items()
        if changes.get(name, {}) is not None
    }


def stops(*, idle: bool = False, **changes: Any) -> set[tuple[str, str]]:
    plan = compare(
        [stack(**template())], [stack(**template(**changes))], idle_blocks=["cr-1"] if idle else []
    )
    return {(str(stop.kind), str(stop.allow).partition("/")[2]) for stop in plan.stops()}


def change(kind: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What is said of one resource when its properties change."""
    old, new = ({"Type": kind, "Properties": side} for side in (before, after))
    return [stop.reason for stop in compare([stack(R=old)], [stack(R=new)]).stops()]


def variables(**changes: str) -> dict[str, Any]:
    return {"Environment": {"Variables": BLOCK | changes}}


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({"Drain": None}, "Drain"),
        ({"Rule": None}, "Rule"),
        ({"Permission": None}, "Permission"),
        ({"Alarm": None}, "Alarm"),
        ({"Mail": None}, "Mail"),
        ({"Rule": {"State": "DISABLED"}}, "Rule"),
        ({"Rule": {"ScheduleExpression": "rate(2 minutes)"}}, "Rule"),
        ({"Rule": {"ScheduleExpression": "rate(1 hour)"}}, "Rule"),
        ({"Rule": {"ScheduleExpression": "cron(0/5 * * * ? *)"}}, "Rule"),
        ({"Rule": {"ScheduleExpression": "cron(0 12 * * ? *)"}}, "Rule"),
        ({"Rule": {"Targets": []}}, "Rule"),
        ({"Rule": {"Targets": [{"Arn": {"Ref": "Queue"}}]}}, "Rule"),
        ({"Rule": {"Targets": [{"Arn": {"Ref": "Drain"}, "Input": "{}"}]}}, "Rule"),
        ({"Rule": {"EventPattern": {"source": ["aws.ec2"], "detail": {"a": ["b"]}}}}, "Rule"),
        ({"Rule": {"EventPattern": {"source": ["aws.batch"]}}}, "Rule"),
        ({"Permission": {"FunctionName": "another"}}, "Permission"),
        ({"Permission": {"SourceArn": "arn:of:another:rule"}}, "Permission"),
        ({"Alarm": {"Dimensions": [{"Value": "another"}]}}, "Alarm"),
        ({"Mail": {"TopicArn": "another"}}, "Mail"),
        ({"Mail": {"Endpoint": "else@example.com"}}, "Mail"),
        ({"Mail": {"FilterPolicy": {"a": ["b"]}}}, "Mail"),
        ({"Drain": {"VpcConfig": {"SubnetIds": ["a"]}}}, "Drain"),
        ({"Alarm": {"AlarmActions": []}}, "Alarm"),
        ({"Alarm": {"ActionsEnabled": False}}, "Alarm"),
        ({"Topic": {"TopicName": "other"}}, "Topic"),
        ({"Drain": {"ReservedConcurrentExecutions": 0}}, "Drain"),
        ({"Permission": {"SourceArn": None}}, "Permission"),
        ({"Rule": {"Targets": [{"Arn": {"Ref": "Drain"}}, {"Arn": {"Ref": "Queue"}}]}}, "Rule"),
        ({"Alarm": {"AlarmActions": [{"Ref": "Topic"}, "arn:aws:automate:us-east-2:ec2:stop"]}}, "Alarm"),
        ({"Drain": {"ReservedConcurrentExecutions": 1}}, "Drain"),
        ({"Drain": variables(UC_CHECKPOINT_LEAD_SECONDS="1499")}, "Drain"),
        ({"Drain": variables(PYTHONPATH="/opt")}, "Drain"),
        ({"Drain": {"Timeout": 119}}, "Drain"),
        ({"Drain": {"Timeout": None}}, "Drain"),
        ({"Drain": variables(UC_RESERVATION_ID="cr-2")}, "Drain"),
        ({"Drain": variables(UC_JOB_QUEUE="r")}, "Drain"),
        ({"Drain": {"Environment": {"Variables": {"UC_RESERVATION_ID": "cr-1"}}}}, "Drain"),
    ],
)
def test_what_switches_off_stops_at_one_place(changes: dict[str, Any], at: str) -> None:
    assert stops(**changes) == {("control", at)}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"Rule": {"ScheduleExpression": "cron(* * * * ? *)"}},
        {"Rule": {"ScheduleExpression": "cron(*/1 * * * ? *)", "State": "ENABLED"}},
        {"Rule": {"Targets": [{"Arn": {"Ref": "Topic"}}, {"Arn": {"Ref": "Drain"}}]}},
        {"Alarm": {"OKActions": [{"Ref": "Topic"}], "ActionsEnabled": True}},
        {"Topic": {"DisplayName": "another"}},
        {"Rule": {"EventPattern": {"source": ["aws.batch", "aws.ec2"]}}},
        {"Drain": {"Timeout": 300, "MemorySize": 512, "Runtime": None}},
        {"Drain": variables(UC_CHECKPOINT_LEAD_SECONDS="1800", UC_MORE="x")},
    ],
)
def test_what_keeps_its_work_passes(changes: dict[str, Any]) -> None:
    assert stops(**changes) == set()


def test_the_drain_of_an_idle_block_may_change() -> None:
    assert stops(idle=True, Drain=variables(UC_RESERVATION_ID="cr-2") | {"Timeout": 60}) == set()
    assert stops(idle=True, Drain={"ReservedConcurrentExecutions": 0}) == {("control", "Drain")}


@pytest.mark.parametrize(
    ("operator", "safe", "dangerous"),
    [
        ("GreaterThanThreshold", (100, 99, 10), (101, 9.5, 0, -1, "x", None)),
        ("LessThanOrEqualToThreshold", (100, 101, 1000), (99, 1001, 0, 1e9)),
    ],
)
def test_an_alarm_may_fire_earlier_and_neither_later_nor_always(
    operator: str, safe: tuple[Any, ...], dangerous: tuple[Any, ...]
) -> None:
    def edited(threshold: Any) -> list[str]:
        alarm = {"ComparisonOperator": operator, "Threshold": 100}
        return change(ALARM, alarm, alarm | {"Threshold": threshold})

    assert [edited(each) for each in safe] == [[]] * len(safe)
    assert all("later, never, or always" in edited(each)[0] for each in dangerous)


@pytest.mark.parametrize(
    ("before", "after", "passes"),
    [
        ((5, None), (4, None), True),
        ((5, None), (6, None), False),
        ((5, None), (0, None), False),
        ((5, 3), (5, 2), True),
        ((5, 3), (5, 4), False),
        ((5, 3), (4, 3), False),
        ((5, 3), (3, 2), False),
        ((5, 3), (4, 2), True),
    ],
)
def test_an_alarm_may_wait_for_fewer_points_and_miss_as_many(
    before: tuple[int, int | None], after: tuple[int, int | None], *, passes: bool
) -> None:
    old, new = (
        {"EvaluationPeriods": of, **({"DatapointsToAlarm": points} if points else {})}
        for of, points in (before, after)
    )

    assert (change(ALARM, old, new) == []) == passes


def limits(**changes: Any) -> dict[str, Any]:
    action = {"Reason": "R", "State": "RUNNABLE", "Action": "CANCEL", "MaxTimeSeconds": 600}
    return {"JobStateTimeLimitActions": [action | changes]}


def volumes(*paths: str) -> dict[str, Any]:
    found = [{"Name": path, "Host": {"SourcePath": path}} for path in paths]
    return {"ContainerProperties": {"Volumes": [{"Name": "none"}, *found]}}


def rules(*found: dict[str, Any]) -> dict[str, Any]:
    versions = {"VersioningConfiguration": {"Status": "Enabled"}}
    return {"LifecycleConfiguration": {"Rules": [{"Status": "Enabled"} | rule for rule in found]}} | versions


def command(*words: str) -> dict[str, Any]:
    return {"ContainerProperties": {"Command": words and [*words]}}


def key(value: Any) -> dict[str, Any]:
    default = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": value}}
    return {"BucketEncryption": {"ServerSideEncryptionConfiguration": [default]}}


def rule(*alarms: str, by: str = " OR ") -> dict[str, Any]:
    parts = [part for name in alarms for part in (f"{by}ALARM(", {"Ref": name}, ")")]
    return {"AlarmRule": {"Fn::Join": ["", [parts[0].removeprefix(by), *parts[1:]]]}}  # type: ignore[union-attr]


def queues(*names: str) -> dict[str, Any]:
    listed = [part for name in names for part in (",", {"Ref": name})][1:]
    return {"Environment": {"Variables": {"UC_ADDITIONAL_JOB_QUEUES": listed and {"Fn::Join": ["", listed]}}}}


def warning(threshold: float, *people: Any, of: str = "ACTUAL") -> dict[str, Any]:
    said = {"Notification": {"NotificationType": of, "Threshold": threshold}}
    return said | {"Subscribers": [{"Address": address} for address in people]}


def warnings(*found: dict[str, Any]) -> dict[str, Any]:
    return {"NotificationsWithSubscribers": [*found]}


@pytest.mark.parametrize(
    ("kind", "before", "after", "passes"),
    [
        (QUEUE, limits(), limits(MaxTimeSeconds=601), True),
        (QUEUE, limits(), limits(MaxTimeSeconds=599), False),
        (QUEUE, limits(), limits(Reason="S"), False),
        (QUEUE, limits(), limits(State="PENDING"), False),
        (QUEUE, limits(), limits(Action="TERMINATE"), False),
        (QUEUE, limits(), {}, True),
        (QUEUE, {}, limits(), False),
        (JOB, volumes("/fsx"), volumes("/fsx", "/fsx/data"), True),
        (JOB, volumes("/fsx"), volumes("/fsx", "/fsx2"), False),
        (JOB, volumes("/fsx"), volumes("/fsx", "/fsx/../etc"), False),
        (JOB, volumes("/fsx", "/opt"), volumes("/fsx"), False),
        (JOB, command(LAUNCHER_PATH, "a"), command(LAUNCHER_PATH, "b"), True),
        (JOB, command(LAUNCHER_PATH, "a"), command("b"), False),
        (JOB, command("a"), command("b"), True),
        (JOB, {"ContainerProperties": {}}, command("b"), True),
        (FUNCTION, {"Runtime": "python3.12"}, {"Runtime": "python3.13"}, True),
        (FUNCTION, {"Runtime": "python3.12"}, {"Runtime": "python3.11"}, False),
        (FUNCTION, {"Runtime": "python3.12"}, {"Runtime": "nodejs22.x"}, False),
        (BUCKET, rules({"ExpirationInDays": 7}), rules({"ExpirationInDays": 8}), True),
        (BUCKET, rules({"ExpirationInDays": 7}), rules({"ExpirationInDays": 6}), False),
        (BUCKET, rules({"ExpirationInDays": 7}), rules({"ExpirationInDays": 7, "Prefix": "a"}), True),
        (BUCKET, rules({"ExpirationInDays": 7}), rules({"Status": "Disabled", "ExpirationInDays": 1}), True),
        (BUCKET, rules({"ExpirationInDays": 7}), rules(), True),
        (BUCKET, rules(), rules({"ExpirationInDays": 7}), False),
        (BUCKET, rules(), {}, False),
        (BUCKET, {}, key({"Ref": "Key"}), True),
        (BUCKET, {}, key("arn:of:another"), False),
        (BUCKET, key("ours"), key("ours"), True),
        (BUCKET, key("ours"), key("theirs"), False),
        (COMPOSITE, rule("A"), rule("A", "B"), True),
        (COMPOSITE, rule("A", "B"), rule("A"), False),
        (COMPOSITE, rule("A"), rule("A", "B", by=" AND "), False),
        (COMPOSITE, rule("A"), {"AlarmRule": "ALARM(A)"}, False),
        (FUNCTION, queues("A"), queues("A", "B"), True),
        (FUNCTION, queues("A", "B"), queues("B"), False),
        (BUDGET, warnings(warning(80, "a")), warnings(warning(80, "a", "b")), True),
        (BUDGET, warnings(warning(80, "a")), warnings(warning(79, "a")), True),
        (BUDGET, warnings(warning(80, "a")), warnings(warning(81, "a")), False),
        (BUDGET, warnings(warning(80, "a")), warnings(warning(0, "a")), False),
        (BUDGET, warnings(warning(80, "a", "b")), warnings(warning(80, "a")), False),
        (BUDGET, warnings(warning(80, "a")), warnings(warning(80, "a", of="FORECASTED")), False),
        (BUDGET, warnings(warning(80, "a")), warnings(warning(80, "a"), warning(90, "b")), True),
        (BUDGET, warnings(warning(80, "a")), {}, False),
        (BUDGET, {}, warnings(warning(80, "a")), True),
    ],
)
def test_what_keeps_jobs_and_data_passes_and_what_loses_them_stops(
    kind: str, before: dict[str, Any], after: dict[str, Any], *, passes: bool
) -> None:
    assert (change(kind, before, after) == []) == passes


OWN_ROLE, OWN_FUNCTION = {"Fn::GetAtt": ["Role", "Arn"]}, {"Fn::GetAtt": ["Drain", "Arn"]}
PERMISSION = {
    "Principal": "events.amazonaws.com",
    "Action": "lambda:InvokeFunction",
    "SourceArn": {"Fn::GetAtt": ["Rule", "Arn"]},
}
CODE = {"Role": OWN_ROLE, "Code": {"S3Key": "a" * 64 + ".zip"}}


def job(**container: Any) -> dict[str, Any]:
    return {"NodeProperties": {"NodeRangeProperties": [{"Container": container}]}}


def environment(**resources: Any) -> dict[str, Any]:
    return {"Type": "MANAGED", "ComputeResources": resources}


def others() -> dict[str, Any]:
    """What a stack has beside the resource that changes."""
    reserved = {"CapacityReservationSpecification": {"CapacityReservationTarget": {"Id": "cr-1"}}}
    launched = {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Nodes"}}}
    return template() | {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {}},
        "Calls": {"Type": TOPIC, "Properties": {}},
        "Call": {
            "Type": SUBSCRIPTION,
            "Properties": {"Protocol": "lambda", "TopicArn": {"Ref": "Calls"}, "Endpoint": OWN_FUNCTION},
        },
        "Nodes": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": reserved}},
        "Reserved": {"Type": ENVIRONMENT, "Properties": environment(**launched)},
        "Further": {"Type": ENVIRONMENT, "Properties": environment(**launched)},
        "Bought": {"Type": ENVIRONMENT, "Properties": environment(MaxvCpus=192)},
    }


@pytest.mark.parametrize(
    ("kind", "properties", "passes"),
    [
        ("AWS::Lambda::Permission", PERMISSION, True),
        ("AWS::Lambda::Permission", PERMISSION | {"Action": "lambda:*"}, False),
        ("AWS::Lambda::Permission", PERMISSION | {"Principal": "123456789012"}, False),
        ("AWS::Lambda::Permission", PERMISSION | {"SourceArn": "arn:of:another:rule"}, False),
        (SUBSCRIPTION, {"Protocol": "email-json"}, True),
        (SUBSCRIPTION, {"Protocol": "lambda", "Endpoint": OWN_FUNCTION}, True),
        (SUBSCRIPTION, {"Protocol": "lambda", "Endpoint": "arn:of:another"}, False),
        (SUBSCRIPTION, {"Protocol": "https", "Endpoint": OWN_FUNCTION}, False),
        (JOB, job(JobRoleArn=OWN_ROLE, ExecutionRoleArn=OWN_ROLE), True),
        (JOB, job(JobRoleArn="arn:of:another"), False),
        (JOB, job(ExecutionRoleArn="arn:of:another"), False),
        (JOB, job(Privileged=True), False),
        (JOB, {"ContainerProperties": {"Privileged": True}}, False),
        (FUNCTION, CODE, True),
        (FUNCTION, CODE | {"Code": {"ZipFile": "x"}}, True),
        (FUNCTION, CODE | {"Code": {"S3Key": "theirs.zip"}}, False),
        (FUNCTION, CODE | {"Layers": ["theirs"]}, False),
        (FUNCTION, CODE | {"Role": "arn:of:another"}, False),
        (ALARM, {"AlarmActions": [{"Ref": "Topic"}], "OKActions": [{"Ref": "Topic"}]}, True),
        (ALARM, {"AlarmActions": ["arn:aws:automate:us-east-2:ec2:stop"]}, False),
        (ALARM, {"InsufficientDataActions": ["arn:of:another"]}, False),
        (ENVIRONMENT, environment(LaunchTemplate={"LaunchTemplateId": {"Ref": "Nodes"}}), True),
        (ENVIRONMENT, environment(LaunchTemplate={"LaunchTemplateId": {"Ref": "Topic"}}), False),
        (ENVIRONMENT, environment(), False),
        (ENVIRONMENT, {"Type": "UNMANAGED"}, True),
        (GROUP, {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Nodes"}}}, True),
        (GROUP, {"LaunchTemplate": {"LaunchTemplateId": "lt-0"}}, False),
        (BUDGET, {"NotificationsWithSubscribers": [{"Subscribers": [{"Address": {"Ref": "Topic"}}]}]}, True),
        (BUDGET, {"NotificationsWithSubscribers": [{"Subscribers": [{"Address": {"Ref": "Calls"}}]}]}, False),
        (INGRESS, {"CidrIp": "10.0.0.0/8"}, True),
        (INGRESS, {"CidrIp": "0.0.0.0/0"}, False),
        (INGRESS, {"CidrIpv6": "::/0"}, False),
    ],
)
def test_a_new_resource_passes_if_it_starts_and_opens_nothing_of_others(
    kind: str, properties: dict[str, Any], *, passes: bool
) -> None:
    new = {"Type": kind, "Properties": properties}
    reasons = [stop.reason for stop in compare([stack(**others())], [stack(**others(), R=new)]).stops()]

    assert (reasons == []) == passes, reasons


def order(*environments: Any) -> dict[str, Any]:
    found = [{"Order": n, "ComputeEnvironment": each} for n, each in enumerate(environments)]
    return {"ComputeEnvironmentOrder": found}


FIRST, FURTHER, BOUGHT = ({"Ref": name} for name in ("Reserved", "Further", "Bought"))
CLOSES = warning(80, {"Ref": "Calls"})


@pytest.mark.parametrize(
    ("kind", "before", "after", "passes"),
    [
        (QUEUE, order(FIRST), order(FIRST, FURTHER), True),
        (QUEUE, order(FIRST), order(FIRST, BOUGHT), False),
        (QUEUE, order(FIRST), order(FURTHER, FIRST), False),
        (QUEUE, order(FIRST), order(FIRST, "arn:of:another"), False),
        (QUEUE, order(FIRST, FURTHER), order(FIRST), False),
        (BUDGET, warnings(CLOSES), warnings(CLOSES, warning(50, "a")), True),
        (BUDGET, warnings(CLOSES), warnings(CLOSES, warning(50, {"Ref": "Calls"})), False),
        (BUDGET, warnings(CLOSES), warnings(warning(79, {"Ref": "Calls"})), False),
        (BUDGET, warnings(CLOSES), warnings(warning(80, {"Ref": "Calls"}, "a")), True),
    ],
)
def test_a_queue_gets_only_paid_nodes_and_a_budget_closes_nothing_earlier(
    kind: str, before: dict[str, Any], after: dict[str, Any], *, passes: bool
) -> None:
    old, new = ({"Type": kind, "Properties": side} for side in (before, after))
    reasons = [s.reason for s in compare([stack(**others(), R=old)], [stack(**others(), R=new)]).stops()]

    assert (reasons == []) == passes, reasons


@pytest.mark.parametrize(
    ("nodes", "passes"), [(0, False), (1, True), (2, True), (4, True), (5, False), ("x", False)]
)
def test_a_job_may_have_as_many_nodes_as_an_environment_of_its_stack(nodes: Any, *, passes: bool) -> None:
    def given(count: Any) -> StackTemplate:
        container = {
            "ResourceRequirements": [{"Type": "MEMORY", "Value": "1"}, {"Type": "VCPU", "Value": "192"}]
        }
        ranges = [{"Container": container}, {"Container": {}}]
        definition = {
            "Type": JOB,
            "Properties": {"NodeProperties": {"NumNodes": count, "NodeRangeProperties": ranges}},
        }
        small = {"Type": ENVIRONMENT, "Properties": {"UnmanagedvCpus": 192}}
        large = {"Type": ENVIRONMENT, "Properties": environment(MaxvCpus=4 * 192)}
        return stack(R=definition, Small=small, Large=large, Topic={"Type": TOPIC})

    assert ([*compare([given(2)], [given(nodes)]).stops()] == []) == passes


def test_an_image_may_be_another_version_of_the_same_repository() -> None:
    def edited(before: Any, after: Any) -> bool:
        old, new = ({"ContainerProperties": {"Image": each}} for each in (before, after))
        return change("AWS::Batch::JobDefinition", old, new) == []

    digest = "@sha256:" + "a" * 64
    assert edited("host:5000/a/b:1", "host:5000/a/b:2")
    assert edited("a/b:1", "a/b" + digest)
    assert edited({"Fn::Sub": "${AWS::AccountId}.dkr/b:1"}, {"Fn::Sub": "${AWS::AccountId}.dkr/b:2"})
    assert not edited("a/b:1", "a/c:1")
    assert not edited("host:5000/a/b:1", "host:5001/a/b:1")
    assert not edited({"Fn::Sub": "${AWS::AccountId}.dkr/b:1"}, {"Fn::Sub": "${AWS::AccountId}.dkr/c:1"})


@pytest.mark.parametrize(
    ("before", "after", "last", "passes"),
    [
        (3, 5, {"Action": "EXIT", "OnReason": "*"}, True),
        (2, 3, {"Action": "exit", "OnReason": "*"}, True),
        (1, 2, {"Action": "EXIT", "OnReason": "*"}, False),
        (5, 3, {"Action": "EXIT", "OnReason": "*"}, False),
        (3, None, {"Action": "EXIT", "OnReason": "*"}, False),
        (3, 5, {"Action": "EXIT", "OnReason": "Out*"}, False),
        (3, 5, {"Action": "RETRY", "OnReason": "*"}, False),
        (3, 5, None, False),
    ],
)
def test_a_job_that_is_retried_after_the_loss_of_a_node_may_be_retried_more_often(
    before: int, after: int | None, last: dict[str, str] | None, *, passes: bool
) -> None:
    rules = [{"Action": "RETRY", "OnStatusReason": "Host EC2*"}, *([last] if last else [])]
    old, new = ({"RetryStrategy": {"Attempts": each, "EvaluateOnExit": rules}} for each in (before, after))

    assert (change(JOB, old, new) == []) == passes


@pytest.mark.parametrize("strategy", [{}, {"EvaluateOnExit": []}])
def test_a_job_that_is_retried_for_any_reason_is_not_retried_more_often_unseen(
    strategy: dict[str, Any],
) -> None:
    old, new = ({"RetryStrategy": {"Attempts": each, **strategy}} for each in (3, 5))

    assert change(JOB, old, new) != []


def test_what_no_row_names_stops_with_its_values_and_what_the_resource_is_for() -> None:
    (reason,) = change("AWS::Batch::JobDefinition", {"PropagateTags": True}, {"PropagateTags": False})

    assert reason == "PropagateTags: true -> false is not known to be safe for what places or describes jobs"


def test_a_parameter_cannot_change_behind_a_property() -> None:
    def given(value: str) -> StackTemplate:
        alarm = {"Type": ALARM, "Properties": {"MetricName": {"Ref": "Name"}}}
        template = {"Parameters": {"Name": {"Default": value}}, "Resources": {"R": alarm}}
        return StackTemplate(cluster="c", name="s", region="us-east-2", template=template)

    (stop,) = compare([given("Errors")], [given("Nothing")]).stops()
    assert stop.reason.startswith("MetricName follows Name is not known to be safe")


def test_a_written_out_account_is_the_same_account() -> None:
    def given(account: Any, known: str | None) -> StackTemplate:
        policy = {"Statement": {"Effect": "Allow", "Action": "sns:Publish", "Resource": "*"}}
        policy["Statement"] |= {"Principal": {"AWS": account}}  # type: ignore[operator]
        one = {"Type": "AWS::SNS::TopicPolicy", "Properties": {"PolicyDocument": policy, "Topics": []}}
        return StackTemplate(
            cluster="c", name="s", region="us-east-2", template={"Resources": {"R": one}}, account=known
        )

    ours, theirs, meant = "123456789012", "999999999999", {"Ref": "AWS::AccountId"}
    assert [*compare([given(meant, None)], [given(ours, ours)]).stops()] == []
    assert [*compare([given(meant, None)], [given(theirs, ours)]).stops()]
    assert [*compare([given(meant, None)], [given(ours, None)]).stops()]


def test_a_stack_that_is_no_longer_defined_stops_because_it_is_billed() -> None:
    (stop,) = compare([stack(**template())], []).stops()

    assert (str(stop.kind), stop.allow) == ("capacity", "leave:s")
    assert "ultracluster destroy" in stop.reason


ODD = (
    None,
    0,
    -1,
    "x",
    "",
    [],
    {},
    [1],
    [{}],
    ["x"],
    {"a": 1},
    {"Ref": "P"},
    {"Fn::Join": ["", ["a"]]},
    True,
)


@pytest.mark.parametrize("kind", SAFE)
def test_a_value_of_any_type_is_judged(kind: str) -> None:
    def at(path: tuple[str, ...], value: Any) -> Any:
        for name in reversed(path):
            value = [value] if name == "*" and "Tags" not in path[:1] + path[-1:] else {name: value}
        return value

    # Properties are judged one by one, so that those of different names change together.
    groups: list[dict[str, tuple[str, ...]]] = []
    for path in SAFE[kind]:
        group = next((each for each in groups if path[0] not in each), None)
        if group is None:
            groups.append(group := {})
        group[path[0]] = path
    for group in groups:
        for before, after in permutations(ODD, 2):
            old, new = (
                {name: at(path, value)[name] for name, path in group.items()} for value in (before, after)
            )
            change(kind, old, new)
