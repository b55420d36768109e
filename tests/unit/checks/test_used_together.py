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
BROKEN: tuple[tuple[str, dict[str, Any], str, Any], ...] = (
    ("UC3215", KUBERNETES, "Second.AvailabilityZone", "us-east-2a"),
    ("UC3215", KUBERNETES, "Cluster.ResourcesVpcConfig.SubnetIds", [ref("First")]),
    ("UC3215", SUBNETS | {"Ends": a("EC2::VPCEndpoint", SubnetIds=BOTH)}, "Second.AvailabilityZone", "us-east-2a"),
    ("UC6467", KUBERNETES, "Cluster.ResourcesVpcConfig.EndpointPrivateAccess", False),
    ("UC6419", TASK | {"Key": a("KMS::Key")}, "Weights.BucketEncryption", ENCRYPTED),
    ("UC6467", KUBERNETES, "Vpc.EnableDnsHostnames", False),
    ("UC6467", KUBERNETES, "Agent", None),
    ("UC6467", KUBERNETES, "Role.ManagedPolicyArns", [WORKER]),
    ("UC6467", KUBERNETES, "Template.LaunchTemplateData.IamInstanceProfile", {"Name": "nodes"}),
    ("UC6463", HOSTS, "Hosts.NewInstancesProtectedFromScaleIn", False),
    ("UC6463", HOSTS, "Capacity.AutoScalingGroupProvider.ManagedScaling.Status", "DISABLED"),
    ("UC6463", HOSTS, "Role.ManagedPolicyArns", ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"]),
    ("UC6466", STATES, "Machine.DefinitionSubstitutions.Block", None),
    ("UC6466", RULE, "Rule.Targets.0.InputTransformer.InputTemplate", '"<job>"'),
    ("UC6426", TRAIL, "Policy.PolicyDocument.Statement.0.Condition", OTHER),
    ("UC6428", TRAIL, "Key.KeyPolicy.Statement.0.Condition", OTHER),
    ("UC6426", QUEUE, SOURCE, {"aws:SourceArn": {"Fn::Sub": "arn:aws:s3:::curated-${AWS::AccountId}"}}),
    ("UC6426", QUEUE, SOURCE, {"aws:SourceArn": ref("Topic")}),
    ("UC6438", BUILD, "Build.Environment.EnvironmentVariables.1.Type", "PARAMETER_STORE"),
    ("UC6438", BUILD, "Role.Policies.0.PolicyDocument.Statement.0.Action.2", "ecr:BatchGetImage"),
    ("UC6438", BUILD, "Role.Policies.0.PolicyDocument.Statement.0.Action.3", "ec2:DescribeSubnets"),
    ("UC6438", FUNCTION, "Role.Policies.0.PolicyDocument.Statement.0.Resource", arn("Others")),
    ("UC6436", STARTED, "Rule.Targets.0.RoleArn", None),
    ("UC6436", STARTED, f"{STARTS}.0", "batch:ListJobs"),
    ("UC6436", STARTED, f"{STARTS}.1", "ecs:ListTasks"),
    ("UC6436", STARTED, f"{STARTS}.2", "iam:GetRole"),
    ("UC6436", STARTED, f"{STARTS}.3", "ssm:GetAutomationExecution"),
    ("UC6436", STARTED, "Runs.Policies.0.PolicyDocument.Statement.1.Resource", arn("Starts")),
    ("UC6438", STARTED, "Automation.Policies.0.PolicyDocument.Statement.0.Action.0", "batch:DescribeJobQueues"),
    ("UC6438", CLOSED, "Role.Policies.0.PolicyDocument.Statement", closing("Others")),
    ("UC6438", CLOSED, "Close.Environment.Variables.JOB_QUEUE", "pretrain"),
    ("UC6438", SCALED, "Role.Policies.0.PolicyDocument.Statement.0.Resource", arn("Other")),
    ("UC6432", SCALED, "Scale.Code.ZipFile", SCALE.replace("['end-date']", "['endDate']")),
    ("UC6432", SCALED, "Watch.Targets.1.InputTransformer.InputPathsMap.block", "$.detail.reservation"),
    ("UC6431", CLOSED, "Tries.MaximumRetryAttempts", 0),
    ("UC6419", CLOSED, "Reader.Policies.0.PolicyDocument.Statement.0.Action.1", "kms:DescribeKey"),
    ("UC6419", TASK, "Execution.Policies.0.PolicyDocument.Statement.0.Action.0", "s3:GetObject"),
    ("UC6419", TASK, "Task.ContainerDefinitions.0.Secrets.0.ValueFrom", ref("Topic")),
    ("UC6419", TASK, "Task.ContainerDefinitions.0.LogConfiguration.Options.awslogs-region", "us-east-1"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "right", "path", "value"), BROKEN, ids=[f"{each[0]} {each[2]}" for each in BROKEN]
)
def test_what_fits_together_keeps_the_rule_and_the_change_breaks_it(
    code: str, right: dict[str, Any], path: str, value: Any
) -> None:
    assert code not in codes(right)
    assert code in codes(changed(right, path, value))


def test_the_addresses_of_pods_may_come_from_a_role_of_the_add_on() -> None:
    own = changed(KUBERNETES, "Role.ManagedPolicyArns", [WORKER])
    cni = a("EKS::Addon", ClusterName=ref("Cluster"), AddonName="vpc-cni", ServiceAccountRoleArn="arn:aws:iam::111122223333:role/cni")  # fmt: skip

    assert "UC6467" not in codes(own | {"Cni": cni})
