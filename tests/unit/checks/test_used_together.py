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
BOTH = [ref("First"), ref("Second")]
KUBERNETES = SUBNETS | {
    "Cluster": a("EKS::Cluster", RoleArn="arn:aws:iam::111122223333:role/c", ResourcesVpcConfig={"SubnetIds": BOTH, "EndpointPrivateAccess": True, "EndpointPublicAccess": False}),
    "Role": role("ec2", managed=("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy")),
    "Template": a("EC2::LaunchTemplate", LaunchTemplateData={"MetadataOptions": {"HttpTokens": "required"}}),
    "Nodes": a("EKS::Nodegroup", ClusterName=ref("Cluster"), NodeRole=arn("Role"), Subnets=BOTH, LaunchTemplate={"Id": ref("Template")}),
    "Agent": a("EKS::Addon", ClusterName=ref("Cluster"), AddonName="eks-pod-identity-agent"),
    "Names": a("EKS::Addon", ClusterName=ref("Cluster"), AddonName="coredns"),
    "Trainer": a("EKS::PodIdentityAssociation", ClusterName=ref("Cluster"), Namespace="n", ServiceAccount="s", RoleArn="arn:aws:iam::111122223333:role/t"),
}  # fmt: skip
WORKER = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
HOSTS = {
    "Hosts": a("AutoScaling::AutoScalingGroup", LaunchTemplate={"LaunchTemplateId": ref("Template")}, NewInstancesProtectedFromScaleIn=True, MinSize="0", MaxSize="2"),
    "Capacity": a("ECS::CapacityProvider", AutoScalingGroupProvider={"AutoScalingGroupArn": ref("Hosts"), "ManagedTerminationProtection": "ENABLED", "ManagedScaling": {"Status": "ENABLED"}}),
    "Role": role("ec2", managed=("AmazonEC2ContainerServiceforEC2Role",)),
    "Profile": a("IAM::InstanceProfile", Roles=[ref("Role")]),
    "Template": a("EC2::LaunchTemplate", LaunchTemplateData={"IamInstanceProfile": {"Arn": arn("Profile")}, "UserData": {"Fn::Base64": "#!/bin/bash\necho ECS_CLUSTER=serve >> /etc/ecs/ecs.config\n"}}),
}  # fmt: skip
STATES = {
    "Table": a("DynamoDB::Table", KeySchema=[{"AttributeName": "block", "KeyType": "HASH"}], AttributeDefinitions=[{"AttributeName": "block", "AttributeType": "S"}]),
    "Machine": a("StepFunctions::StateMachine", RoleArn="arn:aws:iam::111122223333:role/m", DefinitionSubstitutions={"Table": ref("Table"), "Block": "b"}, Definition={"StartAt": "Note", "States": {"Note": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:updateItem", "Parameters": {"TableName": "${Table}", "Key": {"block": {"S": "${Block}"}}}, "End": True}}}),
}  # fmt: skip
RULE = {"Rule": a("Events::Rule", EventPattern={"source": ["aws.codebuild"], "detail": {"project-name": [ref("Build")]}}, Targets=[{"Id": "t", "Arn": "arn:aws:sns:us-east-2:111122223333:t", "InputTransformer": {"InputPathsMap": {"name": "$.detail.project-name"}, "InputTemplate": '"<name> at <aws.events.event.ingestion-time>"'}}]), "Build": a("CodeBuild::Project", Name="b")}  # fmt: skip
TRAIL = {
    "Trail": a("CloudTrail::Trail", TrailName="main", S3BucketName=ref("Logs"), KMSKeyId=arn("Key"), IsLogging=True),
    "Logs": a("S3::Bucket"),
    "Policy": a("S3::BucketPolicy", Bucket=ref("Logs"), PolicyDocument={"Statement": [allow("cloudtrail", "s3:PutObject", Condition={"StringEquals": {"aws:SourceArn": {"Fn::Sub": "arn:aws:cloudtrail:us-east-2:${AWS::AccountId}:trail/main"}}})]}),
    "Key": a("KMS::Key", KeyPolicy={"Statement": [allow("cloudtrail", "kms:GenerateDataKey*")]}),
}  # fmt: skip
OTHER = {"StringEquals": {"aws:SourceArn": {"Fn::Sub": "arn:aws:cloudtrail:us-east-2:${AWS::AccountId}:trail/training"}}}  # fmt: skip
QUEUE = {
    "Raw": a("S3::Bucket", BucketName={"Fn::Sub": "raw-${AWS::AccountId}"}, NotificationConfiguration={"QueueConfigurations": [{"Event": "s3:ObjectCreated:*", "Queue": arn("Queue")}]}),
    "Queue": a("SQS::Queue"),
    "Topic": a("SNS::Topic", TopicName="t"),
    "Policy": a("SQS::QueuePolicy", Queues=[ref("Queue")], PolicyDocument={"Statement": [allow("s3", "sqs:SendMessage", Condition={"ArnLike": {"aws:SourceArn": {"Fn::Sub": "arn:aws:s3:::raw-${AWS::AccountId}"}}})]}),
}  # fmt: skip
SOURCE = "Policy.PolicyDocument.Statement.0.Condition.ArnLike"
BUILD = {
    "Images": a("ECR::Repository"),
    "Token": a("SecretsManager::Secret"),
    "Role": role("codebuild", "logs:CreateLogStream", "logs:PutLogEvents", "ecr:PutImage", "ec2:CreateNetworkInterface", "ec2:CreateNetworkInterfacePermission"),
    "Build": a("CodeBuild::Project", ServiceRole=arn("Role"), VpcConfig={"Subnets": ["subnet-0a"]}, Environment={"Type": "LINUX_CONTAINER", "PrivilegedMode": True, "EnvironmentVariables": [{"Name": "R", "Value": {"Fn::GetAtt": ["Images", "RepositoryUri"]}}, {"Name": "T", "Type": "SECRETS_MANAGER", "Value": ref("Token")}]}),
}  # fmt: skip
TASK = {
    "Token": a("SecretsManager::Secret"),
    "Logs": a("Logs::LogGroup"),
    "Topic": a("SNS::Topic"),
    "Weights": a("S3::Bucket"),
    "Execution": role("ecs-tasks", "secretsmanager:GetSecretValue", "logs:CreateLogStream", "logs:PutLogEvents"),
    "Role": role("ecs-tasks", "s3:GetObject", on={"Fn::Sub": "${Weights.Arn}/*"}),
    "Task": a("ECS::TaskDefinition", ExecutionRoleArn=arn("Execution"), TaskRoleArn=arn("Role"), ContainerDefinitions=[{"Name": "c", "Image": "i:1", "Environment": [{"Name": "MODEL", "Value": {"Fn::Sub": "s3://${Weights}/m"}}], "Secrets": [{"Name": "T", "ValueFrom": ref("Token")}], "LogConfiguration": {"LogDriver": "awslogs", "Options": {"awslogs-group": ref("Logs"), "awslogs-region": "us-east-2"}}}]),
}  # fmt: skip
FUNCTION = {
    "Logs": a("Logs::LogGroup"),
    "Others": a("Logs::LogGroup"),
    "Role": role("lambda", "logs:CreateLogStream", "logs:PutLogEvents", on=arn("Logs")),
    "Work": a("Lambda::Function", Role=arn("Role"), LoggingConfig={"LogGroup": ref("Logs")}),
}  # fmt: skip
ENCRYPTED = {"ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": arn("Key")}}]}  # fmt: skip
STARTED = {
    "Queue": a("Batch::JobQueue", Priority=1),
    "Execution": role("ecs-tasks", "logs:PutLogEvents"),
    "Task": a("ECS::TaskDefinition", ExecutionRoleArn=arn("Execution"), ContainerDefinitions=[{"Name": "c", "Image": "i:1"}]),
    "Hosts": a("ECS::Cluster"),
    "Starts": role("events", "batch:SubmitJob", "ecs:RunTask", "iam:PassRole", "ssm:StartAutomationExecution"),
    "Rule": a("Events::Rule", ScheduleExpression="rate(1 day)", Targets=[
        {"Id": "j", "Arn": ref("Queue"), "RoleArn": arn("Starts"), "BatchParameters": {"JobName": "j", "JobDefinition": "d"}},
        {"Id": "t", "Arn": arn("Hosts"), "RoleArn": arn("Starts"), "EcsParameters": {"TaskDefinitionArn": ref("Task")}},
        {"Id": "a", "Arn": {"Fn::Sub": "arn:aws:ssm:us-east-2:${AWS::AccountId}:automation-definition/Drain:1"}, "RoleArn": arn("Starts")},
    ]),
    "Drain": a("SSM::Document", DocumentType="Automation", Content={"assumeRole": arn("Automation"), "mainSteps": [{"name": "close", "action": "aws:executeAwsApi", "inputs": {"Service": "batch", "Api": "UpdateJobQueue"}}]}),
    "Automation": role("ssm", "batch:UpdateJobQueue"),
    "Runs": a("IAM::Role", AssumeRolePolicyDocument={"Statement": [allow("states", "sts:AssumeRole")]}, Policies=[{"PolicyName": "own", "PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "ecs:RunTask", "Resource": "*"}, {"Effect": "Allow", "Action": "iam:PassRole", "Resource": arn("Execution")}]}}]),
    "Machine": a("StepFunctions::StateMachine", RoleArn=arn("Runs"), DefinitionSubstitutions={"Task": ref("Task")}, Definition={"StartAt": "Run", "States": {"Run": {"Type": "Task", "Resource": "arn:aws:states:::ecs:runTask", "Parameters": {"TaskDefinition": "${Task}"}, "End": True}}}),
}  # fmt: skip
STARTS = "Starts.Policies.0.PolicyDocument.Statement.0.Action"
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
SCALE = "import boto3, os\ngroups = boto3.client('autoscaling')\ndef handler(event, context):\n    print(event['detail']['end-date'])\n    groups.set_desired_capacity(AutoScalingGroupName=os.environ['GROUP'], DesiredCapacity=0)\n"
SCALED = {
    "Group": a("AutoScaling::AutoScalingGroup", MinSize="0", MaxSize="2"),
    "Other": a("AutoScaling::AutoScalingGroup", MinSize="0", MaxSize="2"),
    "Role": role("lambda", "autoscaling:SetDesiredCapacity", on=arn("Group")),
    "Scale": a("Lambda::Function", Runtime="python3.13", Handler="index.handler", Timeout=60, Role=arn("Role"), Code={"ZipFile": SCALE}, Environment={"Variables": {"GROUP": ref("Group")}}),
    "Note": a("Lambda::Function", Timeout=60),
    "Watch": a("Events::Rule", EventPattern={"source": ["aws.ec2"], "detail-type": ["Capacity Block Expiration Warning"]}, Targets=[{"Id": "s", "Arn": arn("Scale")}, {"Id": "n", "Arn": arn("Note"), "InputTransformer": {"InputPathsMap": {"block": "$.detail.capacity-reservation-id"}, "InputTemplate": '"<block>"'}}]),
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
SCRIPT = "const { BatchClient, TerminateJobCommand } = require('@aws-sdk/client-batch');\nconst client = new BatchClient({});\nexports.handler = async () => {\n  await client.send(new TerminateJobCommand({}));\n};\n"
STOPPED = {
    "Role": role("lambda", "batch:TerminateJob"),
    "Stop": a("Lambda::Function", Runtime="nodejs22.x", Handler="index.handler", Timeout=60, Role=arn("Role"), Code={"ZipFile": SCRIPT}),
}  # fmt: skip
ROLE_OF_LUSTRE = "arn:aws:iam::111122223333:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_fs-1"
LINKED = {
    "Key": a("KMS::Key", KeyPolicy={"Statement": [{"Effect": "Allow", "Principal": {"AWS": ROLE_OF_LUSTRE}, "Action": "kms:Decrypt", "Resource": "*"}]}),
    "Data": CLOSED["Data"],
    "Link": a("FSx::DataRepositoryAssociation", FileSystemId="fs-1", FileSystemPath="/data", DataRepositoryPath={"Fn::Sub": "s3://${Data}/data"}),
    "Logs": a("S3::Bucket", BucketEncryption={"ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}),
    "Logged": a("S3::Bucket", LoggingConfiguration={"DestinationBucketName": ref("Logs")}),
    "Deliver": a("S3::BucketPolicy", Bucket=ref("Logs"), PolicyDocument={"Statement": [allow("logging.s3", "s3:PutObject", Resource={"Fn::Sub": "${Logs.Arn}/*"})]}),
}  # fmt: skip
FAILED = CLOSED | {"Failed": a("CloudWatch::Alarm", Namespace="AWS/Lambda", MetricName="Errors", Threshold=1, ComparisonOperator="GreaterThanOrEqualToThreshold", AlarmActions=["arn:aws:sns:us-east-2:111122223333:t"], Dimensions=[{"Name": "FunctionName", "Value": ref("Close")}])}  # fmt: skip
BROKEN: tuple[tuple[str, dict[str, Any], str, Any], ...] = (
    ("UC3201", PLACED, "In.SourceSecurityGroupId", "sg-0123456789abcdef0"),
    ("UC3209", PLACED, "Efa.VpcId", None),
    ("UC6458", PLACED, "Template.LaunchTemplateData.NetworkInterfaces.0.PrivateIpAddress", "10.0.0.4"),
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
