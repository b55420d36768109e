"""Resources that work together: edits of the quick start's stacks that break what joins them, and that do not."""

from typing import Any

import pytest
from tests.unit.checks.edits import statement
from tests.unit.checks.whole_cluster import DROP, codes_after, findings_after

JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
DEVICES = f"{JOB}/LinuxParameters/Devices"


def variable(name: str, value: str) -> dict[str, Any]:
    return {f"{JOB}/Environment/+": {"Name": name, "Value": value}}


CE = "ComputeEnvironment/ComputeResources"
LT = "LaunchTemplate/LaunchTemplateData"
SECOND = {"Order": 2, "ComputeEnvironment": {"Ref": "Second"}}


def second(**properties: Any) -> dict[str, Any]:
    return {
        "/Resources/Second": {
            "Type": "AWS::Batch::ComputeEnvironment",
            "Properties": {"Type": "MANAGED", **properties},
        },
        "JobQueue/ComputeEnvironmentOrder/+": SECOND,
    }


WATCH = "Role:ClusterWatchRole"
DATA = "BucketPolicy:CheckpointsPolicy/PolicyDocument/Statement/+"
ROOT = {"AWS": "arn:aws:iam::210987654321:root"}
ORGANIZATION = {"StringEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}}


def allowed(action: Any, **rest: Any) -> dict[str, Any]:
    return {f"{WATCH}/Policies/0/PolicyDocument/Statement/+": statement(Action=action, **rest)}


LAYERS = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data/*"}

END = "2026-12-08T11:30:00Z"
FUNCTION = "Function:ClusterBlockLifecycle"


def schedule(expression: str, **properties: Any) -> dict[str, Any]:
    target = {
        "Arn": {"Fn::GetAtt": ["ClusterBlockLifecycleFunction54C212BA", "Arn"]},
        "RoleArn": "arn:aws:iam::123456789012:role/it",
    }
    made = {"ScheduleExpression": expression, "Target": target, **properties}
    return {
        "/Parameters/BlockEnd": {"Type": "String", "Default": END},
        "/Resources/Timed": {"Type": "AWS::Scheduler::Schedule", "Properties": made},
    }


def group(at: str, size: int = 0, **properties: Any) -> dict[str, Any]:
    launch = {"LaunchTemplateId": {"Ref": "ClusterNodes5F8C920A"}, "Version": "1"}
    made = {"MinSize": "0", "MaxSize": "4", "LaunchTemplate": launch, **properties}
    action = {
        "AutoScalingGroupName": {"Ref": "Group"},
        "StartTime": at,
        "MinSize": size,
        "DesiredCapacity": size,
        "MaxSize": size,
    }
    return {
        "/Parameters/BlockEnd": {"Type": "String", "Default": END},
        "/Resources/Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": made},
        "/Resources/Leave": {"Type": "AWS::AutoScaling::ScheduledAction", "Properties": action},
    }


def hook(seconds: int | None) -> dict[str, Any]:
    """A hook that a node waits in before it is terminated."""
    ending = {"LifecycleHookName": "save", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}
    return ending if seconds is None else ending | {"HeartbeatTimeout": seconds}


BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC6414", "Cluster", {f"{DEVICES}/0/Permissions": ["READ"]}),
    ("UC6414", "Cluster", {f"{DEVICES}/20/ContainerPath": "/dev/infiniband/uverbs9"}),
    (
        "UC6403",
        "Cluster",
        {f"LaunchTemplate/LaunchTemplateData/NetworkInterfaces/{place}": DROP for place in (15, 14)},
    ),
    ("UC6415", "Cluster", {f"{JOB}/InstanceType": "trn1.32xlarge"}),
    ("UC6404", "Cluster", {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": "3:0"}),
    ("UC6404", "Cluster", {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": "0-3"}),
    ("UC6404", "Cluster", {"JobDefinition/NodeProperties/NumNodes": 0}),
    ("UC6109", "Cluster", variable("AWS_BATCH_JOB_NUM_NODES", "4")),
    ("UC6416", "Cluster", variable("FI_PROVIDER", "tcp")),
    ("UC6416", "Cluster", {f"{JOB}/Environment/2/Value": "0"}),
    ("UC6416", "Cluster", variable("NEURON_RT_ROOT_COMM_ID", "127.0.0.1:62182")),
    ("UC6416", "Cluster", variable("MASTER_ADDR", "localhost")),
    ("UC6416", "Cluster", variable("CCOM_SOCKET_IFNAME", "lo")),
    ("UC6416", "Cluster", variable("NEURON_LOGICAL_NC_CONFIG", "4")),
    ("UC6416", "Cluster", variable("NEURON_RT_NUM_CORES", "256")),
    ("UC6416", "Cluster", variable("NEURON_RT_VISIBLE_CORES", "0-255")),
    ("UC6416", "Cluster", {f"{JOB}/Environment/7/Value": "0"}),
    ("UC6417", "Cluster", {f"{JOB}/MountPoints/+": {"SourceVolume": "nowhere", "ContainerPath": "/data"}}),
    ("UC6416", "Cluster", {f"{JOB}/Environment/5/Value": "--target=trn1"}),
    ("UC6416", "Cluster", {f"{JOB}/Environment/5/Value": "--lnc=4"}),
    ("UC6103", "Cluster", variable("NEURON_LOGICAL_NC_CONFIG", "1")),
    ("UC6103", "Cluster", {f"{JOB}/Command": ["torchrun", "--nproc_per_node=24", "train.py"]}),
    ("UC6144", "Cluster", {f"{JOB}/Command": ["torchrun", "--standalone", "train.py"]}),
    ("UC6308", "Cluster", second(Type="UNMANAGED")),
    ("UC4224", "Cluster", {f"{CE}/Ec2Configuration/0/ImageType": "ECS_AL2"}),
    ("UC4215", "Cluster", {f"{CE}/InstanceTypes": ["c7g.4xlarge", "c7i.4xlarge"]}),
    ("UC6415", "Cluster", {f"{CE}/InstanceTypes": ["trn2.48xlarge", "c7i.2xlarge"]}),
    ("UC6417", "Cluster", {f"{LT}/UserData": {"Fn::Base64": "mount -t lustre x@tcp:/y /mnt/lustre"}}),
    ("UC6450", "Cluster", allowed("ec2:CreateCapacityReservation")),
    ("UC6450", "Cluster", allowed(["ec2:DescribeInstances", "ec2:Run*"])),
    ("UC6451", "Cluster", allowed("iam:PutRolePolicy")),
    ("UC6451", "Cluster", allowed("iam:CreatePolicyVersion", Resource="arn:aws:iam::123456789012:policy/*")),
    ("UC6451", "Cluster", allowed("iam:AttachRolePolicy", Resource={"Fn::GetAtt": ["ClusterWatchRole205D4167", "Arn"]})),
    ("UC6452", "Cluster", allowed("sts:AssumeRole")),
    ("UC6452", "Cluster", allowed("sts:AssumeRole", Resource="arn:aws:iam::*:role/*")),
    ("UC6423", "Cluster", allowed("iam:PassRole", Resource="arn:aws:iam::123456789012:role/*")),
    ("UC6423", "Cluster", allowed("iam:PassRole", Condition={"StringLike": {"iam:PassedToService": "*"}})),
    ("UC6451", "Cluster", allowed("s3:PutBucketPolicy")),
    ("UC6453", "Cluster", allowed("fsx:DeleteFileSystem")),
    ("UC6453", "Cluster", allowed("secretsmanager:GetSecretValue")),
    ("UC6453", "Cluster", allowed("s3:GetObject", Resource="arn:aws:s3:::*")),
    ("UC3209", "Network", {
        "/Resources/Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.9.0.0/16"}},
        "/Resources/Far": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.9.0.0/20"}},
        "/Resources/Nodes": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {"ComputeResources": {
            "Type": "EC2", "MaxvCpus": 8, "Subnets": [{"Ref": "Far"}, {"Ref": "NetworkSubnet8D9C3287"}]}}},
    }),
    ("UC6431", "Cluster", {f"{FUNCTION}/Environment/Variables/LEAD_MINUTES": "20"}),
    ("UC6431", "Cluster", group("2026-12-08T11:20:00Z")),
    ("UC6431", "Cluster", group("2026-12-08T10:30:00Z", 1)),
    ("UC6431", "Cluster", group("2026-12-08T10:30:00Z", NewInstancesProtectedFromScaleIn=True)),
    ("UC6431", "Cluster", group("2026-12-08T10:30:00Z", LifecycleHookSpecificationList=[hook(1801)])),
    ("UC6431", "Cluster", group("2026-12-08T10:30:00Z", LifecycleHookSpecificationList=[hook(None)])),
]  # fmt: skip
FITTING: list[dict[str, Any]] = [
    {f"{JOB}/Environment/5/Value": "--target=trn2 --lnc=1"},
    {f"{DEVICES}/0/Permissions": ["READ", "WRITE"]},
    {f"{DEVICES}/0/Permissions": DROP},
    variable("NEURON_LOGICAL_NC_CONFIG", "1") | {f"{JOB}/Environment/11/Value": "128"},
    variable("NEURON_RT_NUM_CORES", "64"),
    variable("NEURON_RT_VISIBLE_CORES", "0-63"),
    variable("MASTER_ADDR", "main"),
    variable("FI_PROVIDER", "efa"),
    {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": ":"},
]
NAMED: list[tuple[str, dict[str, Any]]] = [
    ("Cluster", allowed("sts:AssumeRole", Resource="arn:aws:iam::123456789012:role/reader")),
    ("Cluster", allowed("s3:GetObject", Resource="arn:aws:s3:::data/*")),
    ("Cluster", allowed("s3:GetObject", Resource={"Fn::Sub": "arn:${AWS::Partition}:s3:::data*/*"})),
    ("Cluster", allowed("ec2:RunInstances", Condition={"StringEquals": {"ec2:InstanceType": "c7i.large"}})),
    ("Storage", {DATA: statement(Action="s3:GetObject", Principal="*", Condition=ORGANIZATION)}),
    ("Storage", {DATA: statement(Action="s3:GetObject", Principal=ROOT, Condition=ORGANIZATION)}),
]


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


@pytest.mark.parametrize("edits", FITTING, ids=str)
def test_jobs_that_fit_have_no_finding(edits: dict[str, Any]) -> None:
    assert codes_after("Cluster", edits) == []


def test_read_only_devices_are_one_finding() -> None:
    found = findings_after("Cluster", {f"{DEVICES}/{index}/Permissions": ["READ"] for index in range(16)})

    assert len(found) == 1
    assert "15 more like it" in found[0]


def test_a_log_group_in_its_region_has_no_finding() -> None:
    assert (
        codes_after("Cluster", {f"{JOB}/LogConfiguration/Options/awslogs-group": {"Fn::ImportValue": "logs"}})
        == []
    )


@pytest.mark.parametrize(("stack", "edits"), NAMED, ids=str)
def test_named_and_conditioned_permissions_have_no_finding(stack: str, edits: dict[str, Any]) -> None:
    assert codes_after(stack, edits) == []


def test_a_policy_that_lets_layers_through_has_no_finding() -> None:
    through = LAYERS | {"Resource": "arn:aws:s3:::prod-us-east-2-starport-layer-bucket/*"}

    assert codes_after("Network", {"VPCEndpoint:NetworkS3/PolicyDocument": {"Statement": [through]}}) == []


@pytest.mark.parametrize(
    "edits",
    [
        schedule("at(2026-12-08T10:40:00)"),
        group("2026-12-08T10:30:00Z"),
        group("2026-12-08T10:30:00Z", LifecycleHookSpecificationList=[hook(1800)]),
        {f"{FUNCTION}/Environment/Variables/LEAD_MINUTES": "50"},
    ],
    ids=str,
)
def test_what_is_in_time_has_no_finding(edits: dict[str, Any]) -> None:
    assert codes_after("Cluster", edits) == []
