"""Resources that fit only together: pairs of templates, of which the first one keeps a rule and the second one breaks it."""

import copy
from typing import Any

import pytest

from ultracluster_checks import Source, check_templates


def codes(body: dict[str, Any]) -> set[str]:
    return {each.code for each in check_templates([Source(name="it", body={"Resources": body}, region="us-east-2")]).findings}  # fmt: skip


def changed(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with a value at a dotted path below the properties of a resource; None removes it."""
    name, *keys = path.split(".")
    whole = copy.deepcopy(body)
    at = whole[name]["Properties"] if keys else whole
    for key in keys[:-1]:
        at = at[int(key)] if key.isdigit() else at[key]
    last: Any = (keys or [name])[-1]
    if value is None:
        del at[last]
    else:
        at[int(last) if last.isdigit() else last] = value
    return whole


def a(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def ref(name: str) -> Any:
    return {"Ref": name}


def arn(name: str) -> Any:
    return {"Fn::GetAtt": [name, "Arn"]}


def role(service: str, *actions: str, on: Any = "*", managed: tuple[str, ...] = ()) -> dict[str, Any]:
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}]}  # fmt: skip
    allowed = {"Statement": [{"Effect": "Allow", "Action": [*actions], "Resource": on}]}
    policies = [{"PolicyName": "own", "PolicyDocument": allowed}] if actions else []
    arns = [f"arn:aws:iam::aws:policy/{each}" for each in managed]
    return a("IAM::Role", AssumeRolePolicyDocument=trust, Policies=policies, ManagedPolicyArns=arns)


def allow(service: str, action: str, **rest: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": action, "Resource": "*"} | rest  # fmt: skip


SUBNETS = {"First": a("EC2::Subnet", VpcId=ref("Vpc"), AvailabilityZone="us-east-2a", CidrBlock="10.0.0.0/24"), "Second": a("EC2::Subnet", VpcId=ref("Vpc"), AvailabilityZone="us-east-2b", CidrBlock="10.0.1.0/24"), "Vpc": a("EC2::VPC", CidrBlock="10.0.0.0/16", EnableDnsHostnames=True)}  # fmt: skip
CODE = "import boto3, os\nbatch = boto3.client('batch')\ndef handler(event, context):\n    batch.list_jobs()\n    batch.terminate_job()\n    batch.update_job_queue(jobQueue=os.environ['JOB_QUEUE'], state='DISABLED')\n"


def closing(queue: str) -> list[Any]:
    """Return the statements of a function that ends jobs and closes a queue."""
    every = {"Effect": "Allow", "Action": ["batch:ListJobs", "batch:TerminateJob", "batch:UpdateComputeEnvironment"], "Resource": "*"}  # fmt: skip
    return [every, {"Effect": "Allow", "Action": "batch:UpdateJobQueue", "Resource": ref(queue)}]


CLOSED = {
    "Jobs": a("Batch::JobQueue", Priority=1),
    "Others": a("Batch::JobQueue", Priority=2),
    "Role": a("IAM::Role", AssumeRolePolicyDocument={"Statement": [allow("lambda", "sts:AssumeRole")]}, Policies=[{"PolicyName": "own", "PolicyDocument": {"Statement": closing("Jobs")}}]),
    "Close": a("Lambda::Function", Runtime="python3.13", Handler="index.handler", Timeout=60, Role=arn("Role"), Code={"ZipFile": CODE}, Environment={"Variables": {"JOB_QUEUE": ref("Jobs")}}),
    "Ending": a("Events::Rule", EventPattern={"source": ["aws.ec2"], "detail-type": ["Capacity Block Expiration Warning"]}, Targets=[{"Id": "c", "Arn": arn("Close")}]),
    "Tries": a("Lambda::EventInvokeConfig", FunctionName=ref("Close"), Qualifier="$LATEST", MaximumRetryAttempts=1),
    "Key": a("KMS::Key", KeyPolicy={"Statement": [{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}, "Action": "kms:*", "Resource": "*"}]}),
    "Data": a("S3::Bucket", BucketEncryption={"ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": arn("Key")}}]}),
    "Reader": role("lambda", "s3:GetObject", "kms:Decrypt", on=[{"Fn::Sub": "${Data.Arn}/*"}, arn("Key")]),
}  # fmt: skip


def port(first: int, last: int, peer: str) -> dict[str, Any]:
    return {"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "SourceSecurityGroupId": ref(peer)}


SERVERS = {
    "Clients": a("EC2::SecurityGroup", GroupDescription="clients"),
    "Servers": a("EC2::SecurityGroup", GroupDescription="servers", SecurityGroupIngress=[port(988, 988, "Clients"), port(1018, 1023, "Clients")]),
}  # fmt: skip
HELD = {"CapacityReservationTarget": {"CapacityReservationId": ref("Hold")}}
PLACED = SUBNETS | {
    "Efa": a("EC2::SecurityGroup", GroupDescription="efa", VpcId=ref("Vpc")),
    "In": a("EC2::SecurityGroupIngress", GroupId=ref("Efa"), IpProtocol="-1", SourceSecurityGroupId=ref("Efa")),
    "Out": a("EC2::SecurityGroupEgress", GroupId=ref("Efa"), IpProtocol="-1", DestinationSecurityGroupId=ref("Efa")),
    "Together": a("EC2::PlacementGroup", Strategy="cluster"),
    "Hold": a("EC2::CapacityReservation", InstanceType="trn1.32xlarge", InstanceCount=4, PlacementGroupArn=arn("Together")),
    "Template": a("EC2::LaunchTemplate", LaunchTemplateData={"InstanceType": "trn1.32xlarge", "Placement": {"GroupName": ref("Together")}, "CapacityReservationSpecification": HELD, "NetworkInterfaces": [{"DeviceIndex": 0, "InterfaceType": "efa", "Groups": [ref("Efa")]}], "UserData": "aws autoscaling complete-lifecycle-action --lifecycle-hook-name drain --auto-scaling-group-name fleet"}),
    "Fleet": a("AutoScaling::AutoScalingGroup", AutoScalingGroupName="fleet", LaunchTemplate={"LaunchTemplateId": ref("Template")}, VPCZoneIdentifier=[ref("First")], MinSize="0", MaxSize="4", MetricsCollection=[{"Granularity": "1Minute"}], LifecycleHookSpecificationList=[{"LifecycleHookName": "drain", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}]),
    "Few": a("CloudWatch::Alarm", Namespace="AWS/AutoScaling", MetricName="GroupInServiceInstances", Dimensions=[{"Name": "AutoScalingGroupName", "Value": ref("Fleet")}]),
}  # fmt: skip
BLOCK = {"InstanceMarketOptions": {"MarketType": "capacity-block"}, "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}}}  # fmt: skip
TRAINED = {
    "Template": a("EC2::LaunchTemplate", LaunchTemplateData=BLOCK | {"UserData": "mount -t lustre fs-1@tcp:/name /fsx"}),
    "Nodes": a("Batch::ComputeEnvironment", Type="MANAGED", ComputeResources={"Type": "EC2", "InstanceTypes": ["trn1.32xlarge"], "MaxvCpus": 256, "LaunchTemplate": {"LaunchTemplateId": ref("Template")}}),
    "Jobs": a("Batch::JobQueue", Priority=1, ComputeEnvironmentOrder=[{"Order": 1, "ComputeEnvironment": ref("Nodes")}]),
    "System": a("FSx::FileSystem", FileSystemType="LUSTRE", LustreConfiguration={"DeploymentType": "PERSISTENT_2"}),
    "Link": a("FSx::DataRepositoryAssociation", FileSystemId=ref("System"), FileSystemPath="/run", DataRepositoryPath="s3://mine/run", S3={"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}),
    "Job": a("Batch::JobDefinition", Type="container", Timeout={"AttemptDurationSeconds": 86_400}, ContainerProperties={"Volumes": [{"Name": "fsx", "Host": {"SourcePath": "/fsx"}}], "MountPoints": [{"SourceVolume": "fsx", "ContainerPath": "/data"}], "Environment": [{"Name": "CHECKPOINT_DIR", "Value": "/data/run/checkpoints"}]}),
    "Ended": a("Events::Rule", EventPattern={"source": ["aws.ec2"], "detail-type": ["EC2 Instance State-change Notification"]}),
}  # fmt: skip
BROKEN: tuple[tuple[str, dict[str, Any], str, Any], ...] = (
    ("UC3201", PLACED, "In.SourceSecurityGroupId", "sg-0123456789abcdef0"),
    ("UC3209", PLACED, "Efa.VpcId", None),
    ("UC6458", PLACED, "Template.LaunchTemplateData.NetworkInterfaces.0.PrivateIpAddress", "10.0.0.4"),
    ("UC6458", PLACED, "Template.LaunchTemplateData.NetworkInterfaces.0.NetworkInterfaceId", "eni-0123456789abcdef0"),
    ("UC4223", PLACED, "Hold.PlacementGroupArn", None),
    ("UC4223", PLACED, "Fleet.MaxSize", "5"),
    ("UC5203", SERVERS, "Servers.SecurityGroupIngress.1.ToPort", 1020),
    ("UC5203", SERVERS, "Servers.SecurityGroupIngress.0.IpProtocol", "udp"),
    ("UC5209", TRAINED, "Link.FileSystemPath", "/other"),
    ("UC5209", TRAINED, "Job.ContainerProperties.Environment.0.Value", "/data/checkpoints"),
    ("UC6430", TRAINED, "Job.Timeout.AttemptDurationSeconds", 172_800),
    ("UC6432", CLOSED, "Ending.EventPattern.resources", [{"prefix": "arn:aws:ec2:us-east-2:111122223333:instance/"}]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "right", "path", "value"), BROKEN, ids=[f"{each[0]} {each[2]}" for each in BROKEN]
)
def test_what_fits_together_keeps_the_rule_and_the_change_breaks_it(
    code: str, right: dict[str, Any], path: str, value: Any
) -> None:
    assert code not in codes(right)
    assert code in codes(changed(right, path, value))
