"""Edits of a kept template: what ends jobs or loses data stops, what harms nothing passes."""

import copy
from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.golden.configurations import NEXT, templates_of
from tests.golden.kept import read_kept

from ultracluster_stacks.plan import StackTemplate, compare

pytestmark = pytest.mark.slow

Template = dict[str, Any]
Edit = Callable[["Frozen"], Any]

RESERVATION = "cr-0123456789abcdef0"


class Frozen:
    """The stacks of `watched.yaml`, before and after an edit."""

    def __init__(self) -> None:
        self.before = read_kept(templates_of(NEXT, "watched.yaml").read_text("utf-8"))
        self.after = copy.deepcopy(self.before)

    def templates(self) -> list[Template]:
        return [cast("Template", one.template) for one in self.after]

    def template(self, part: str, stacks: list[StackTemplate] | None = None) -> Template:
        (found,) = (one.template for one in stacks or self.after if one.name.endswith(part))
        return cast("Template", found)

    def both(self, part: str) -> list[Template]:
        """A template before and after, for edits of what is deployed already."""
        return [self.template(part, self.before), self.template(part)]

    def resource(self, start: str, kind: str = "", template: Template | None = None) -> Template:
        parts = [template] if template else self.templates()
        (found,) = (
            resource
            for part in parts
            for logical_id, resource in part["Resources"].items()
            if logical_id.startswith(start) and resource["Type"].endswith(kind)
        )
        return cast("Template", found)

    def properties(self, start: str, kind: str = "", template: Template | None = None) -> Template:
        found: Template = self.resource(start, kind, template).setdefault("Properties", {})
        return found

    def remove(self, *starts: str) -> None:
        for part in self.templates():
            resources = part["Resources"]
            for logical_id in [one for one in resources if one.startswith(starts)]:
                del resources[logical_id]


NODES = ("ClusterNodes", "LaunchTemplate")
LIFECYCLE = ("ClusterBlockLifecycleFunction", "Lambda::Function")


def data(frozen: Frozen) -> Template:
    found: Template = frozen.properties(*NODES)["LaunchTemplateData"]
    return found


def another_type(frozen: Frozen) -> None:
    data(frozen)["InstanceType"] = "trn2.3xlarge"
    frozen.properties("ClusterQueueComputeEnvironment")["ComputeResources"]["InstanceTypes"] = [
        "trn2.3xlarge"
    ]


def another_type_of_the_template(frozen: Frozen) -> None:
    data(frozen)["InstanceType"] = "trn2u.48xlarge"


def type_by_mapping(frozen: Frozen) -> None:
    for template, kind in zip(frozen.both("Cluster"), ("trn2.48xlarge", "trn1.32xlarge"), strict=True):
        template["Mappings"] = {"Machines": {"pretrain": {"type": kind}}}
        nodes = frozen.properties(*NODES, template=template)["LaunchTemplateData"]
        nodes["InstanceType"] = {"Fn::FindInMap": ["Machines", "pretrain", "type"]}


def reservation_by_mapping(frozen: Frozen) -> None:
    for template, name in zip(frozen.both("Cluster"), (RESERVATION, "cr-0fedcba9876543210"), strict=True):
        template["Mappings"] = {"Blocks": {"us-east-2": {"id": name}}}
        nodes = frozen.properties(*NODES, template=template)["LaunchTemplateData"]
        nodes["CapacityReservationSpecification"]["CapacityReservationTarget"]["CapacityReservationId"] = {
            "Fn::FindInMap": ["Blocks", {"Ref": "AWS::Region"}, "id"]
        }


def subnet_by_mapping(frozen: Frozen) -> None:
    for template, cidr in zip(frozen.both("Network"), ("10.0.0.0/18", "10.0.64.0/18"), strict=True):
        template["Mappings"] = {"Networks": {"a": {"cidr": cidr}}}
        frozen.properties("NetworkSubnet", template=template)["CidrBlock"] = {
            "Fn::FindInMap": ["Networks", "a", "cidr"]
        }


def file_system_by_condition(frozen: Frozen) -> None:
    for template, value in zip(frozen.both("Storage"), ("yes", "no"), strict=True):
        template["Conditions"] = {"WithFiles": {"Fn::Equals": [value, "yes"]}}
        frozen.resource("FileSystem", "FSx::FileSystem", template)["Condition"] = "WithFiles"


def drain_by_condition(frozen: Frozen) -> None:
    for template, value in zip(frozen.both("Cluster"), ("prod", "dev"), strict=True):
        template["Conditions"] = {"Prod": {"Fn::Equals": [value, "prod"]}}
        frozen.resource(*LIFECYCLE, template)["Condition"] = "Prod"


def key_by_condition(frozen: Frozen) -> None:
    for template, value in zip(frozen.both("Storage"), ("a", "b"), strict=True):
        template["Conditions"] = {"Own": {"Fn::Equals": [value, "a"]}}
        properties = frozen.properties("FileSystem", "FSx::FileSystem", template)
        properties["KmsKeyId"] = {"Fn::If": ["Own", properties["KmsKeyId"], {"Ref": "AWS::NoValue"}]}


def reservation_by_parameter(frozen: Frozen) -> None:
    for template, name in zip(frozen.both("Cluster"), (RESERVATION, "cr-0fedcba9876543210"), strict=True):
        template["Parameters"]["Block"] = {"Type": "String", "Default": name}
        nodes = frozen.properties(*NODES, template=template)["LaunchTemplateData"]
        nodes["CapacityReservationSpecification"]["CapacityReservationTarget"]["CapacityReservationId"] = {
            "Ref": "Block"
        }


def another_reservation(frozen: Frozen) -> None:
    target = data(frozen)["CapacityReservationSpecification"]["CapacityReservationTarget"]
    target["CapacityReservationId"] = "cr-0fedcba9876543210"
    variables(frozen)["UC_RESERVATION_ID"] = "cr-0fedcba9876543210"


def variables(frozen: Frozen) -> Template:
    found: Template = frozen.properties(*LIFECYCLE)["Environment"]["Variables"]
    return found


def statements(frozen: Frozen) -> list[Template]:
    """Statements of the role of the life cycle."""
    (policy,) = frozen.properties("ClusterBlockLifecycleRole")["Policies"]
    found: list[Template] = policy["PolicyDocument"]["Statement"]
    return found


def of_jobs(frozen: Frozen) -> list[Template]:
    found: list[Template] = frozen.properties("ClusterpretrainRoleDefaultPolicy")["PolicyDocument"][
        "Statement"
    ]
    return found


def without_statement(sid: str) -> Edit:
    def edit(frozen: Frozen) -> None:
        found = statements(frozen)
        kept = [one for one in found if one.get("Sid") != sid]
        assert len(kept) == len(found) - 1
        found[:] = kept

    return edit


def read_only_jobs(frozen: Frozen) -> None:
    for statement in of_jobs(frozen):
        if isinstance(statement["Action"], list) and "s3:PutObject" in statement["Action"]:
            statement["Action"].remove("s3:PutObject")


def narrowed_jobs(frozen: Frozen) -> None:
    of_jobs(frozen)[-1]["Resource"] = "arn:aws:s3:::watched-other/*"


def no_ecs(frozen: Frozen) -> None:
    document = frozen.properties("ClusterQueueAgentPolicy", "IAM::Policy")["PolicyDocument"]
    document["Statement"] = [one for one in document["Statement"] if one["Sid"] != "EcsAgent"]


def trust(frozen: Frozen) -> None:
    role = frozen.properties("ClusterpretrainRole", "IAM::Role")
    role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] = {"Service": "ec2.amazonaws.com"}


def close_the_cache(frozen: Frozen) -> None:
    document = frozen.properties("CompileCachePolicy")["PolicyDocument"]
    document["Statement"].append(
        {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::*"}
    )


def expire_checkpoints(frozen: Frozen) -> None:
    rules = frozen.properties("Checkpoints", "S3::Bucket")["LifecycleConfiguration"]["Rules"]
    rules.append({"Id": "all", "Status": "Enabled", "ExpirationInDays": 1})


def put(start: str, kind: str, **values: Any) -> Edit:
    def edit(frozen: Frozen) -> None:
        properties = frozen.properties(start, kind)
        for name, value in values.items():
            if value is None:
                del properties[name]
            else:
                properties[name] = value

    return edit


def policy(start: str, kind: str, value: str) -> Edit:
    def edit(frozen: Frozen) -> None:
        frozen.resource(start, kind).update(DeletionPolicy=value)

    return edit


def gone(*starts: str) -> Edit:
    def edit(frozen: Frozen) -> None:
        count = sum(len(one.template["Resources"]) for one in frozen.after)
        frozen.remove(*starts)
        assert sum(len(one.template["Resources"]) for one in frozen.after) < count

    return edit


def no_market(frozen: Frozen) -> None:
    del data(frozen)["InstanceMarketOptions"]


def set_variable(name: str, value: str | None) -> Edit:
    def edit(frozen: Frozen) -> None:
        if value is None:
            del variables(frozen)[name]
        else:
            variables(frozen)[name] = value

    return edit


DANGEROUS: dict[str, Edit] = {
    "another instance type in the same reservation": another_type,
    "another instance type of the launch template": another_type_of_the_template,
    "instance type by a mapping": type_by_mapping,
    "reservation by a mapping": reservation_by_mapping,
    "subnet by a mapping": subnet_by_mapping,
    "file system by a condition": file_system_by_condition,
    "drain function by a condition": drain_by_condition,
    "key of the file system by a condition": key_by_condition,
    "reservation by a parameter's default": reservation_by_parameter,
    "another reservation": another_reservation,
    "no market of a block": no_market,
    "no egress of nodes": put("NetworkSecurityGroup", "EC2::SecurityGroup", SecurityGroupEgress=[]),
    "no EFA egress": gone("NetworkEfaEgress"),
    "EFA ingress for TCP only": put("NetworkEfaIngress", "", IpProtocol="tcp", FromPort=443, ToPort=443),
    "no Lustre egress": gone("FileSystemFromNodesEgress988"),
    "no ingress of endpoints": gone("NetworkEndpointSecurityGroupfrom"),
    "no endpoint of images": gone("NetworkEcrApi"),
    "no gateway of S3": gone("NetworkS3"),
    "endpoint without names": put("NetworkEcrDkr", "", PrivateDnsEnabled=False),
    "endpoint closed by its policy": put(
        "NetworkS3",
        "",
        PolicyDocument={
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": "*",
                    "Action": "s3:GetObject",
                    "Resource": "arn:aws:s3:::x/*",
                }
            ]
        },
    ),
    "no DNS": put("NetworkVpc", "", EnableDnsSupport=False),
    "no route": gone("NetworkRouteTableAssociation"),
    "role of the life cycle emptied": put("ClusterBlockLifecycleRole", "", Policies=[]),
    "life cycle may not end jobs": without_statement("EndJobs"),
    "life cycle may not close the queue": without_statement("OpenAndCloseQueue"),
    "jobs may not write": read_only_jobs,
    "jobs may write elsewhere": narrowed_jobs,
    "no policy of jobs": gone("ClusterpretrainRoleDefaultPolicy"),
    "nodes may not join": no_ecs,
    "tasks cannot take their role": trust,
    "compile cache closed": close_the_cache,
    "no drain function": gone("ClusterBlockLifecycle"),
    "no rule of the drain function": gone("ClusterBlockLifecycleEveryMinute"),
    "rule switched off": put("ClusterBlockLifecycleEveryMinute", "", State="DISABLED"),
    "rule once an hour": put("ClusterBlockLifecycleEveryMinute", "", ScheduleExpression="rate(1 hour)"),
    "rule for nobody": put("ClusterBlockLifecycleEveryMinute", "", Targets=[]),
    "rule may not call": gone("ClusterBlockLifecycleFunctionByEveryMinute"),
    "no concurrency": put(*LIFECYCLE, ReservedConcurrentExecutions=0),
    "three seconds for the drain": put(*LIFECYCLE, Timeout=3),
    "drain of another block": set_variable("UC_RESERVATION_ID", "cr-0fedcba9876543210"),
    "drain of no queue": set_variable("UC_JOB_QUEUE", None),
    "no alarm of the drain function": gone("ClusterBlockLifecycleAlarm"),
    "alarm for nobody": put("ClusterBlockLifecycleAlarm", "", AlarmActions=[]),
    "another topic": put("ClusterAlarmsTopic", "SNS::Topic", TopicName="others"),
    "nobody is told": gone("ClusterAlarmsEmail"),
    "queue switched off": put("ClusterQueue", "JobQueue", State="DISABLED"),
    "Snapshot of a file system": policy("FileSystem", "FSx::FileSystem", "Snapshot"),
    "Snapshot of a table": policy("ClusterBlockLifecycleState", "", "Snapshot"),
    "Snapshot of a bucket": policy("Checkpoints", "S3::Bucket", "Snapshot"),
    "logs for a week": put("ClusterQueueLogs", "", RetentionInDays=7),
    "checkpoints for a day": expire_checkpoints,
    "no versions": put("Checkpoints", "S3::Bucket", VersioningConfiguration={"Status": "Suspended"}),
    "no export of checkpoints": put("FileSystemCheckpoints", "", S3={}),
}


def mapping_of_the_same(frozen: Frozen) -> None:
    frozen.template("Cluster")["Mappings"] = {"Machines": {"pretrain": {"type": "trn2.48xlarge"}}}
    data(frozen)["InstanceType"] = {"Fn::FindInMap": ["Machines", "pretrain", "type"]}


def condition_of_the_same(frozen: Frozen) -> None:
    for template, name in zip(frozen.both("Storage"), ("Yes", "Always"), strict=True):
        template["Conditions"] = {name: {"Fn::Equals": ["a", "a"]}}
        frozen.resource("FileSystem", "FSx::FileSystem", template)["Condition"] = name


def unused_mapping(frozen: Frozen) -> None:
    for template, value in zip(frozen.both("Cluster"), ("a", "b"), strict=True):
        template["Mappings"] = {"Notes": {"x": {"y": value}}}


def unused_parameter(frozen: Frozen) -> None:
    frozen.template("Cluster")["Parameters"]["Note"] = {"Type": "String", "Default": "hello"}


def reorder(frozen: Frozen) -> None:
    statements(frozen).reverse()
    for statement in statements(frozen):
        if isinstance(statement["Action"], list):
            statement["Action"].reverse()


def split(frozen: Frozen) -> None:
    last = of_jobs(frozen)[-1]
    *first, action = last["Action"]
    last["Action"] = first
    of_jobs(frozen).append({**last, "Action": action})


def more_rights(frozen: Frozen) -> None:
    of_jobs(frozen).append({"Effect": "Allow", "Action": "cloudwatch:PutMetricData", "Resource": "*"})


def add(part: str, name: str, kind: str, **properties: Any) -> Edit:
    def edit(frozen: Frozen) -> None:
        frozen.template(part)["Resources"][name] = {"Type": kind, "Properties": properties}

    return edit


def code(frozen: Frozen) -> None:
    frozen.properties(*LIFECYCLE)["Code"]["S3Key"] = "1" * 64 + ".zip"


def more_nodes(frozen: Frozen) -> None:
    frozen.properties("ClusterQueueComputeEnvironment")["ComputeResources"]["MaxvCpus"] = 1536


def versions_longer(frozen: Frozen) -> None:
    (rule,) = frozen.properties("Checkpoints", "S3::Bucket")["LifecycleConfiguration"]["Rules"]
    rule["NoncurrentVersionExpiration"]["NoncurrentDays"] = 60


def egress_apart(frozen: Frozen) -> None:
    (rule,) = frozen.properties("NetworkSecurityGroup", "EC2::SecurityGroup").pop("SecurityGroupEgress")
    group = {"Fn::GetAtt": ["NetworkSecurityGroup6335DB55", "GroupId"]}
    frozen.template("Network")["Resources"]["NodesEgress"] = {
        "Type": "AWS::EC2::SecurityGroupEgress",
        "Properties": {**rule, "GroupId": group},
    }


def action_alike(frozen: Frozen) -> None:
    for statement in statements(frozen):
        if statement.get("Sid") == "EndJobs":
            statement["Action"] = ["batch:TerminateJob"]


SAFE: dict[str, Edit] = {
    "nothing": lambda _: None,
    "logs for a year": put("ClusterQueueLogs", "", RetentionInDays=365),
    "logs for ever": put("ClusterQueueLogs", "", RetentionInDays=None),
    "a mapping with the same value": mapping_of_the_same,
    "a condition of another name": condition_of_the_same,
    "a mapping that nothing uses": unused_mapping,
    "a parameter that nothing uses": unused_parameter,
    "statements in another order": reorder,
    "a statement cut in two": split,
    "an action as a list": action_alike,
    "more rights for jobs": more_rights,
    "another alarm": add("Cluster", "More", "AWS::CloudWatch::Alarm", Threshold=1),
    "another endpoint": add(
        "Network", "Sts", "AWS::EC2::VPCEndpoint", ServiceName="com.amazonaws.us-east-2.sts"
    ),
    "another subscription": add(
        "Cluster",
        "Mail",
        "AWS::SNS::Subscription",
        TopicArn={"Ref": "ClusterAlarmsTopicF627297A"},
        Protocol="email",
        Endpoint="a@example.com",
    ),
    "another bucket": add("Storage", "More", "AWS::S3::Bucket"),
    "more time for the drain": put(*LIFECYCLE, Timeout=300),
    "more memory for the drain": put(*LIFECYCLE, MemorySize=512),
    "new code": code,
    "a description": put("ClusterBlockLifecycleEveryMinute", "", Description="Runs each minute"),
    "every minute by cron": put(
        "ClusterBlockLifecycleEveryMinute", "", ScheduleExpression="cron(* * * * ? *)"
    ),
    "more nodes": more_nodes,
    "old versions for longer": versions_longer,
    "a larger file system": put("FileSystem", "FSx::FileSystem", StorageCapacity=7200),
    "egress as a resource": egress_apart,
    "a longer lead": set_variable("UC_CHECKPOINT_LEAD_SECONDS", "1800"),
    "a topic that is kept": policy("ClusterAlarmsTopic", "SNS::Topic", "Retain"),
    "another dashboard": put("Dashboard", "", DashboardBody="{}"),
}


def stops(edit: Edit) -> list[str]:
    frozen = Frozen()
    edit(frozen)
    return [stop.reason for stop in compare(frozen.before, frozen.after).stops()]


@pytest.mark.parametrize("name", DANGEROUS)
def test_what_ends_jobs_or_loses_data_stops(name: str) -> None:
    assert stops(DANGEROUS[name])


@pytest.mark.parametrize("name", SAFE)
def test_what_harms_nothing_passes(name: str) -> None:
    assert stops(SAFE[name]) == []


def test_another_reservation_stops_only_while_jobs_may_run_in_the_block() -> None:
    frozen = Frozen()
    another_reservation(frozen)

    running = compare(frozen.before, frozen.after)
    idle = compare(frozen.before, frozen.after, idle_blocks=[RESERVATION])

    assert {stop.kind for stop in running.stops()} == {"jobs", "control", "capacity"}
    assert [*idle.stops()] == []
