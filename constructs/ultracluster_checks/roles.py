"""Roles of jobs, functions and nodes: assumed by the service that uses them, and allowed what their user does."""

import fnmatch
import re
from collections.abc import Iterable, Iterator
from typing import Final

from ultracluster_checks.calls import actions_of
from ultracluster_checks.codes import ALLOWED_CALLS, WAITING
from ultracluster_checks.jobs import TASK_DEFINITION, JobContainer, job_containers
from ultracluster_checks.model.nodes import LAUNCH_TEMPLATE, launch_data, nodes_of
from ultracluster_checks.model.permissions import (
    KINDS,
    bucket_key,
    conditions_of,
    covers,
    may,
    may_allow,
    may_be_kind,
    role_behind,
    role_of,
    statements_of,
    trusts,
)
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Reference
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_checks.workers import FUNCTION, MACHINE, SCHEDULE, worker_at
from ultracluster_rules.findings import quote

# What is done to objects, and to the key that encrypts them.
_OBJECTS: Final = {"s3:GetObject": "kms:Decrypt", "s3:PutObject": "kms:GenerateDataKey"}
_WRITTEN: Final = re.compile("(?i)cache|checkpoint|output|result|save")
# Services that a resource passes a role to.
_SERVICES: Final = (
    (FUNCTION, ("Role",), "lambda"),
    (SCHEDULE, ("Target", "RoleArn"), "scheduler"),
    ("AWS::Batch::ComputeEnvironment", ("ServiceRole",), "batch"),
    (MACHINE, ("RoleArn",), "states"),
    ("AWS::CodeBuild::Project", ("ServiceRole",), "codebuild"),
    ("AWS::Backup::BackupSelection", ("BackupSelection", "IamRoleArn"), "backup"),
    ("AWS::S3::Bucket", ("ReplicationConfiguration", "Role"), "s3"),
    ("AWS::AutoScaling::LifecycleHook", ("RoleARN",), "autoscaling"),
    ("AWS::CodePipeline::Pipeline", ("RoleArn",), "codepipeline"),
    ("AWS::EC2::FlowLog", ("DeliverLogsPermissionArn",), "vpc-flow-logs"),
    (TASK_DEFINITION, ("TaskRoleArn",), "ecs-tasks"),
    (TASK_DEFINITION, ("ExecutionRoleArn",), "ecs-tasks"),
    ("AWS::EKS::Cluster", ("RoleArn",), "eks"),
    ("AWS::EKS::Nodegroup", ("NodeRole",), "ec2"),
    ("AWS::EKS::PodIdentityAssociation", ("RoleArn",), "pods"),
    ("AWS::SSM::MaintenanceWindowTask", ("ServiceRoleArn",), "ssm"),
    ("AWS::ImageBuilder::LifecyclePolicy", ("ExecutionRole",), "imagebuilder"),
    ("AWS::ImageBuilder::ImagePipeline", ("ExecutionRole",), "imagebuilder"),
    ("AWS::DLM::LifecyclePolicy", ("ExecutionRoleArn",), "dlm"),
    ("AWS::CloudTrail::Trail", ("CloudWatchLogsRoleArn",), "cloudtrail"),
)
# Actions by which functions use the resources of their environment.
_CALLS: Final = {
    "AWS::Batch::ComputeEnvironment": ("batch:DescribeJobQueues", "batch:DescribeComputeEnvironments", "batch:ListJobs", "batch:SubmitJob", "batch:UpdateJobQueue", "batch:UpdateComputeEnvironment"),
    "AWS::Batch::JobQueue": ("batch:DescribeJobQueues", "batch:DescribeComputeEnvironments", "batch:ListJobs", "batch:SubmitJob", "batch:UpdateJobQueue", "batch:UpdateComputeEnvironment"),
    "AWS::DynamoDB::Table": ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:Query", "dynamodb:Scan", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem", "dynamodb:BatchGetItem"),
    "AWS::S3::Bucket": ("s3:GetObject", "s3:PutObject", "s3:ListBucket", "s3:DeleteObject", "s3:GetBucketLocation"),
    "AWS::SNS::Topic": ("sns:Publish",),
    "AWS::SQS::Queue": ("sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage"),
    "AWS::SecretsManager::Secret": ("secretsmanager:GetSecretValue",),
    "AWS::SSM::Parameter": ("ssm:GetParameter", "ssm:GetParameters", "ssm:GetParametersByPath", "ssm:PutParameter"),
    MACHINE: ("states:StartExecution", "states:StartSyncExecution", "states:StopExecution", "states:ListExecutions", "states:DescribeExecution", "states:DescribeStateMachine"),
}  # fmt: skip
# Actions that change one of these, which code names.
_CHANGED: Final = {
    "AWS::AutoScaling::AutoScalingGroup": ("autoscaling:SetDesiredCapacity", "autoscaling:UpdateAutoScalingGroup", "autoscaling:SuspendProcesses", "autoscaling:CompleteLifecycleAction"),
    "AWS::EKS::Nodegroup": ("eks:UpdateNodegroupConfig",),
    "AWS::ECS::Service": ("ecs:UpdateService",),
    FUNCTION: ("lambda:InvokeFunction",),
}  # fmt: skip
_BUCKET: Final = "AWS::S3::Bucket"
# What actions take, by the beginning of the resource of an ARN. Service Authorization Reference (2026-11).
_TAKEN: Final = {
    "batch:CancelJob": ("job/",),
    "batch:SubmitJob": ("job-queue/", "job-definition/"),
    "batch:TerminateJob": ("job/",),
    "batch:UpdateComputeEnvironment": ("compute-environment/",),
    "batch:UpdateJobQueue": ("job-queue/",),
    "dynamodb:GetItem": ("table/",),
    "dynamodb:PutItem": ("table/",),
    "dynamodb:UpdateItem": ("table/",),
    "ec2:TerminateInstances": ("instance/",),
    "eks:UpdateNodegroupConfig": ("nodegroup/",),
    "iam:PassRole": ("role/",),
    "kms:Decrypt": ("key/",),
    "kms:GenerateDataKey": ("key/",),
    "lambda:InvokeFunction": ("function:",),
    "s3:GetObject": ("object",),
    "s3:ListBucket": ("bucket",),
    "s3:PutObject": ("object",),
    "secretsmanager:GetSecretValue": ("secret:",),
    "ssm:GetParameter": ("parameter/",),
    "states:StartExecution": ("stateMachine:",),
}
# Calls that hand a role to a service.
_PASSING: Final = {"batch:RegisterJobDefinition": "ecs-tasks", "ec2:RunInstances": "ec2", "ecs:RunTask": "ecs-tasks", "ecs:RegisterTaskDefinition": "ecs-tasks", "lambda:CreateFunction": "lambda"}  # fmt: skip
# What uses a role, where, when something else is set, and for what. Guides of the services, roles (2026-11).
_USERS: Final = (
    (FUNCTION, "Role", "VpcConfig.SubnetIds", ("ec2:CreateNetworkInterface",)),
    (MACHINE, "RoleArn", "LoggingConfiguration.Destinations", ("logs:CreateLogDelivery",)),
    ("AWS::CodeBuild::Project", "ServiceRole", "", ("logs:CreateLogStream", "logs:PutLogEvents")),
    ("AWS::CodeBuild::Project", "ServiceRole", "VpcConfig.Subnets", ("ec2:CreateNetworkInterface",)),
    ("AWS::EC2::FlowLog", "DeliverLogsPermissionArn", "", ("logs:CreateLogStream", "logs:PutLogEvents")),
    ("AWS::EKS::Cluster", "RoleArn", "", ("ec2:DescribeSubnets",)),
    ("AWS::EKS::Nodegroup", "NodeRole", "", ("ecr:GetAuthorizationToken", "ecr:BatchGetImage")),
    ("AWS::ImageBuilder::InfrastructureConfiguration", "InstanceProfileName", "", ("ssmmessages:OpenControlChannel",)),
    ("AWS::SageMaker::Cluster", "InstanceGroups.*.ExecutionRole", "VpcConfig", ("ec2:CreateNetworkInterface",)),
    ("AWS::SageMaker::Cluster", "InstanceGroups.*.ExecutionRole", "", ("s3:GetObject", "s3:ListBucket")),
)  # fmt: skip
# What uses a role on a resource that it names, and for what. Guides of the services, roles (2026-11).
_USED: Final = (
    (FUNCTION, "Role", "LoggingConfig.LogGroup", ("logs:CreateLogStream", "logs:PutLogEvents")),
    ("AWS::CodeBuild::Project", "ServiceRole", "LogsConfig.CloudWatchLogs.GroupName", ("logs:PutLogEvents",)),
    ("AWS::S3::Bucket", "ReplicationConfiguration.Role", "", ("s3:GetObjectVersionForReplication", "s3:GetReplicationConfiguration")),
    ("AWS::SageMaker::Cluster", "InstanceGroups.*.ExecutionRole", "InstanceGroups.*.LifeCycleConfig.SourceS3Uri", ("s3:GetObject", "s3:ListBucket")),
)  # fmt: skip
# What the last word of a variable names: types, and their property with the name.
_WORDS: Final = {
    "bucket": {_BUCKET: "BucketName"},
    "queue": {"AWS::Batch::JobQueue": "JobQueueName", "AWS::SQS::Queue": "QueueName"},
    "table": {"AWS::DynamoDB::Table": "TableName"},
    "topic": {"AWS::SNS::Topic": "TopicName"},
}
_COMPUTING: Final = ("codebuild", "ec2", "ecs-tasks", "lambda", "sagemaker")
_STORES: Final = {"AWS::SecretsManager::Secret": "SECRETS_MANAGER", "AWS::SSM::Parameter": "PARAMETER_STORE"}
_SECRETS: Final = (*_STORES, "AWS::SecretsManager::SecretTargetAttachment")
_SENDING: Final = {"AWS::SQS::Queue": "sqs:SendMessage", "AWS::SNS::Topic": "sns:Publish"}


@rule("UC6455")
def roles_are_for_their_service(templates: Templates) -> Iterator[Wrong]:
    """Find roles that the service using them cannot assume, and roles in place of an instance profile."""
    for at, service in _passed(templates):
        role = role_of(at)
        if role is not None and not trusts(role, service):
            got = f"{role.logical_id} cannot be assumed by {service}.amazonaws.com"
            yield at, got, f"a role that trusts {service}.amazonaws.com"
    profiles = [nodes.settings["InstanceRole"] for nodes in nodes_of(templates) if nodes.in_batch]
    profiles += [each["IamInstanceProfile"] for each in templates.of_type("AWS::EC2::Instance")]
    for each in templates.of_type("AWS::ImageBuilder::InfrastructureConfiguration"):
        profiles.append(each["InstanceProfileName"])
    for data in (launch_data(each)["IamInstanceProfile"] for each in templates.of_type(LAUNCH_TEMPLATE)):
        profiles += [data["Name"], data["Arn"]]
    for at in profiles:
        if role_of(at) is not None:
            yield at, f"got {at.pattern}, which is a role", "an instance profile"
    for at in (each["RoleArn"] for each in templates.of_type("AWS::EKS::PodIdentityAssociation")):
        role = role_of(at)
        trust = may_allow(role["AssumeRolePolicyDocument"]) if role is not None else []
        actions = [action for each in trust for action in each["Action"].one_or_more]
        if actions and not any(each.text is None or covers(each, "sts:TagSession") for each in actions):
            got = f"the trust policy of {at.pattern} lacks sts:TagSession, which EKS Pod Identity calls"
            yield at, got, "sts:AssumeRole and sts:TagSession"


def _passed(templates: Templates) -> Iterator[tuple[Property, str]]:
    for kind, path, service in _SERVICES:
        for resource in templates.of_type(kind):
            at = resource.properties
            for key in path:
                at = at[key]
            yield at, service
    for cluster in templates.of_type("AWS::SageMaker::Cluster"):
        yield from ((each["ExecutionRole"], "sagemaker") for each in cluster["InstanceGroups"].items)
    for container in job_containers(templates):
        yield from ((container.at[name], "ecs-tasks") for name in ("JobRoleArn", "ExecutionRoleArn"))
    for source in templates.of_type("AWS::Events::Rule"):
        yield from ((target["RoleArn"], "events") for target in source["Targets"].items)
    for nodes in nodes_of(templates):
        profile = nodes.data["IamInstanceProfile"]
        for target in (at.target for at in (nodes.settings["InstanceRole"], profile["Arn"], profile["Name"])):
            if target is not None and target.type == "AWS::IAM::InstanceProfile":
                yield from ((each, "ec2") for each in target["Roles"].items)


@rule(ALLOWED_CALLS)
def roles_allow_what_their_user_does(templates: Templates) -> Iterator[Wrong]:
    """Find roles that lack an action which the service that assumes them calls for each resource of a kind."""
    for kind, path, setting, actions in _USERS:
        for resource in templates.of_type(kind):
            used = not setting or any(not each.empty for each in resource.properties.places(setting))
            for at in resource.properties.places(path) if used else ():
                role = role_behind(at)
                lacking = [each for each in actions if role is not None and not may(role, each)]
                if role is not None and lacking:
                    got = f"{role.logical_id} does not allow {', '.join(lacking)}, which {resource.logical_id} needs"
                    yield at, got, ", ".join(lacking)


@rule(ALLOWED_CALLS)
def roles_may_use_what_their_user_names(templates: Templates) -> Iterator[Wrong]:
    """Find roles that lack an action on the very resource that the service assuming them uses it on."""
    for kind, path, named, actions in _USED:
        for resource in templates.of_type(kind):
            places = resource.properties.places(named) if named else [None]
            for at, place in zip(resource.properties.places(path), places, strict=False):
                targets = place.targets if place is not None else [resource]
                if lacking := _lacking(
                    role_of(at), [(each, target) for each in actions for target in targets]
                ):
                    got = f"{at.pattern} does not allow {lacking} on what {resource.logical_id} uses"
                    yield at, got, lacking


def _lacking(role: Resource | None, needed: list[tuple[str, Resource | str | None]]) -> str:
    """Return the names of the actions that a role lacks on their resource; empty without a role."""
    return ", ".join(each for each, on in needed if role is not None and not may(role, each, on))


@rule(ALLOWED_CALLS, "AWS::CodeBuild::Project")
def builds_may_push(project: Resource) -> Iterator[Wrong]:
    """Find builds with Docker that may not push, and secrets of another store."""
    # AWS CodeBuild user guide, Docker sample (2026-11)
    docker, role = project["Environment"]["PrivilegedMode"].flag, role_of(project["ServiceRole"])
    for variable in project["Environment"]["EnvironmentVariables"].items:
        store, value = variable["Type"], variable["Value"]
        kind = value.target.type if value.target is not None else ""
        if store.text in _STORES.values() and store.text != _STORES.get(kind, store.text):
            yield store, f"got {store.text}, and {value.pattern} is of {kind}", _STORES[kind]
        if docker and role and kind == "AWS::ECR::Repository" and not may(role, "ecr:PutImage", value.target):
            got = f"{role.logical_id} does not allow ecr:PutImage, and the build is for {value.pattern}"
            yield project["ServiceRole"], got, "ecr:PutImage"


@rule("UC6462", "AWS::IAM::Role")
def actions_have_resources(role: Resource) -> Iterator[Wrong]:
    """Find actions that a role is allowed on resources of another kind only, which allows nothing."""
    allowed = [each for each in statements_of(role) if each["Effect"].text != "Deny"]
    for at in (action for statement in allowed for action in statement["Action"].one_or_more):
        kinds = _TAKEN.get(at.text or "", ())
        same = [each for each in allowed if _may_include(each, str(at.text))] if kinds else []
        places = [place for each in same for place in (each["Resource"].one_or_more or [each["Action"]])]
        if lacking := [kind for kind in kinds if not any(_is_of(place, kind) for place in places)]:
            got = f"{at.text} is allowed on no {' and no '.join(lacking)}, and so on nothing"
            yield at, got, f"an ARN of {' and one of '.join(kinds)}"


def _may_include(statement: Property, *actions: str) -> bool:
    """Return whether a statement is about one of some actions, or may be."""
    named = statement["Action"].one_or_more
    return any(each.text is None or covers(each, action) for each in named for action in actions)


def _is_of(at: Property, kind: str) -> bool:
    """Return whether a resource of a statement is of a kind, or may be."""
    if kind in {"bucket", "object"}:
        tail = at.pattern.rpartition(":::")[2]
        known = tail and (
            isinstance(at.value, Reference | str) or any(each.type == _BUCKET for each in at.targets)
        )
        return not known or "*" in tail.partition("/")[0] or ("/" in tail) == (kind == "object")
    if isinstance(at.value, Reference):
        known_kind = KINDS.get(at.target.type) if at.target is not None else None
        return known_kind in {None, kind}
    return at.unknown or not at.pattern or may_be_kind(at, kind)


@rule("UC6455", "AWS::IAM::Role")
def roles_are_passed_to_a_service_that_they_trust(role: Resource) -> Iterator[Wrong]:
    """Find permissions to pass roles of which none trusts the service that gets them."""
    statements = [each for each in statements_of(role) if each["Effect"].text == "Allow"]
    for statement in statements:
        if not any(covers(each, "iam:PassRole") for each in statement["Action"].one_or_more):
            continue
        at, keys = statement["Resource"], conditions_of(statement)
        passed = [role_of(each) for each in at.one_or_more]
        allowed = [each for key in keys if key.path[-1] == "iam:PassedToService" for each in key.one_or_more]
        services = {(each.text or "").partition(".")[0] for each in allowed} - {""}
        if not allowed and len(statements) > 1:
            services = {_PASSING[action] for action in _PASSING if may(role, action)}
        trusted = any(each is None or trusts(each, name) for each in passed for name in services)
        if passed and services and not trusted:
            got = f"{at.one_or_more[0].pattern} does not trust {' or '.join(sorted(services))}, which gets it"
            yield at, got, "a role that trusts the service"


@rule(ALLOWED_CALLS, "AWS::Lambda::EventSourceMapping")
def functions_may_read_their_source(mapping: Resource) -> Iterator[Wrong]:
    """Find queues that their function may not read, or whose messages come back while it works on them."""
    # AWS Lambda developer guide, Amazon SQS event source mappings (2026-11): Lambda refuses both.
    at, worker = mapping["EventSourceArn"], worker_at(mapping["FunctionName"])
    queue, role = at.target, role_of(worker["Role"]) if worker is not None else None
    if queue is None or worker is None or queue.type != "AWS::SQS::Queue":
        return
    reading = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
    if role is not None and (lacking := _lacking(role, [(f"sqs:{each}", queue) for each in reading])):
        yield at, f"{role.logical_id} does not allow {lacking}", lacking
    visible, timeout = queue["VisibilityTimeout"], worker["Timeout"]
    hidden, longest = 30 if visible.missing else visible.number, 3 if timeout.missing else timeout.number
    if hidden is not None and longest is not None and hidden < longest:
        got = f"messages come back after {hidden} seconds, and {worker.logical_id} may take {longest}"
        yield Problem.of(visible, WAITING, got, f"{6 * longest}, six times the timeout")


@rule(ALLOWED_CALLS, FUNCTION)
def functions_may_use_their_environment(function: Resource) -> Iterator[Wrong]:
    """Find functions whose environment names a resource that their role cannot access, or not as their code does."""
    role, called = role_of(function["Role"]), actions_of(function)
    named = [(at, each) for at in function["Environment"]["Variables"].members for each in at.targets]
    for at, target in named if role is not None else ():
        actions, same = _CALLS.get(target.type, ()), {each for _, each in named if each.type == target.type}
        used = {*called} & {*actions, *_CHANGED.get(target.type, ())}
        lacking = [each for each in sorted(used) if role and not may(role, each, target)]
        if role is not None and actions and not any(may(role, each, target) for each in actions):
            service = actions[0].partition(":")[0]
            got = f"the environment names {target.logical_id}, and {role.logical_id} allows nothing of {service} on it"
            yield at, got, f"what the function does with it, such as {actions[0]}"
        elif role is not None and lacking and len(same) == 1:
            got = f"{role.logical_id} does not allow {lacking[0]} on {target.logical_id}, which the environment names"
            yield at, got, lacking[0]


@rule(ALLOWED_CALLS, FUNCTION)
def functions_know_what_their_role_is_for(function: Resource) -> Iterator[Wrong]:
    """Find variables with the name of another queue, table, topic or bucket than the only one that their role is for."""
    role, variables = role_of(function["Role"]), function["Environment"]["Variables"].members
    statements = statements_of(role) if role is not None else ()
    meant = {target for each in statements for at in each["Resource"].one_or_more for target in at.targets}
    for at in variables:
        kinds = _WORDS.get(str(at.path[-1]).lower().rpartition("_")[2].removesuffix("s"), {})
        subjects = [each for each in meant if each.type in kinds]
        if at.text is None or len(subjects) != 1 or any(subjects[0] in each.targets for each in variables):
            continue
        name = subjects[0][kinds[subjects[0].type]]
        if re.fullmatch(r"[\w.-]+", at.text) and not name.unknown and name.text != at.text:
            got = f"got {quote(at.text)}, and the role is for {subjects[0].logical_id}"
            yield at, got, subjects[0].logical_id


@rule("UC6419", "AWS::IAM::Role")
def roles_may_use_keys_of_their_buckets(role: Resource) -> Iterator[Wrong]:
    """Find roles that may use the objects of a bucket and not the key that encrypts them."""
    for statement in statements_of(role) if any(trusts(role, each) for each in _COMPUTING) else ():
        actions = statement["Action"].one_or_more
        needed = [key for name, key in _OBJECTS.items() if any(covers(each, name) for each in actions)]
        for at in statement["Resource"].one_or_more if statement["Effect"].text == "Allow" else ():
            for bucket in (each for each in at.targets if each.type == _BUCKET):
                if closed := _lacks_key(role, bucket, needed):
                    got = f"{bucket.logical_id} is encrypted with a key, and {role.logical_id} does not allow {closed} on it"
                    yield at, got, " and ".join(needed) + " on the key"


@rule(ALLOWED_CALLS, FUNCTION, SCHEDULE, "AWS::Lambda::EventInvokeConfig")
def failures_are_kept(sender: Resource) -> Iterator[Wrong]:
    """Find dead-letter queues and destinations that a function or schedule may not send to."""
    at, role = sender["DeadLetterConfig"]["TargetArn"], role_of(sender["Role"])
    if sender.type == SCHEDULE:
        at, role = sender["Target"]["DeadLetterConfig"]["Arn"], role_of(sender["Target"]["RoleArn"])
    elif sender.type != FUNCTION:
        at = sender["DestinationConfig"]["OnFailure"]["Destination"]
        called = worker_at(sender["FunctionName"])
        sender, role = called or sender, role_of(called["Role"]) if called is not None else None
    action = _SENDING.get(at.target.type) if at.target is not None else None
    if role is not None and action and not may(role, action, at.target):
        got = f"{role.logical_id} does not allow {action} on {at.pattern}, so that failures of {sender.logical_id} are lost"
        yield at, got, action


@rule("UC6419", job_containers)
def roles_of_jobs_may_do_what_they_need(container: JobContainer) -> Iterator[Wrong]:
    """Find jobs whose role may not use the buckets of their environment, and execution roles that may not start them."""
    at, role = container.at["JobRoleArn"], role_of(container.at["JobRoleArn"])
    for name, value in container.environment.items():
        actions = ("s3:PutObject",) if _WRITTEN.search(name) else (*_OBJECTS,)
        for on in _buckets(value):
            lacks = role is not None and not any(may(role, each, on) for each in actions)
            key = value.pattern[5:].partition("/")[2]
            lacks = lacks or (role is not None and bool(key) and _is_elsewhere(role, actions, on, key))
            if lacks or (at.missing and not isinstance(on, str)):
                place = on if isinstance(on, str) else on.logical_id
                who = role.logical_id if role else "a job without a role"
                got = f"{name} names {place}, and {who} does not allow {' or '.join(actions)} on its objects"
                yield value if role is not None else at, got, " and ".join(_OBJECTS) + " on its objects"
            bucket = on if role is not None and isinstance(on, Resource) else None
            if role and bucket and (closed := _lacks_key(role, bucket, _OBJECTS.values())):
                got = f"{bucket.logical_id} is encrypted with a key, and {role.logical_id} does not allow {closed} on it"
                yield value, got, "kms:Decrypt and kms:GenerateDataKey on the key"
    at = container.at["ExecutionRoleArn"]
    if lacking := _lacking(role_of(at), _needed(container.at)):
        yield at, f"{at.pattern} does not allow {lacking}, and the container does not start", lacking
    if container.at["Secrets"].items and at.missing:
        yield at, "secrets without an execution role, which AWS Batch refuses", "a role that may read them"
    yield from _logs_and_secrets(container.at)


@rule("UC6419", TASK_DEFINITION)
def roles_of_tasks_may_do_what_they_need(task: Resource) -> Iterator[Wrong]:
    """Find tasks of Amazon ECS whose execution role may not start their containers."""
    at = task["ExecutionRoleArn"]
    for container in task["ContainerDefinitions"].items:
        if lacking := _lacking(role_of(at), _needed(container)):
            yield at, f"{at.pattern} does not allow {lacking}, and the task does not start", lacking
        yield from _logs_and_secrets(container)


def _logs_and_secrets(at: Property) -> Iterator[Wrong]:
    """Find containers whose log group is in another Region, or whose secrets are none."""
    options, own = at["LogConfiguration"]["Options"], at.resource.region
    group, region = options["awslogs-group"].target, options["awslogs-region"]
    elsewhere = group is not None and region.text and region.text != own
    if group is not None and elsewhere and (own or "AWS::Region" not in region.pattern):
        got = f"got {region.text}, and {group.logical_id} is in that of the stack"
        yield region, got, own or "AWS::Region"
    for value in (each["ValueFrom"] for each in at["Secrets"].items):
        kind = value.target.type if value.target is not None else ""
        if kind.startswith("AWS::") and kind not in _SECRETS:
            yield value, f"got {value.pattern}, which is of {kind}", " or ".join(_SECRETS)


def _is_elsewhere(role: Resource, actions: tuple[str, ...], on: Resource | str, key: str) -> bool:
    """Return whether a role may use other keys of a bucket only."""
    statements = [each for each in statements_of(role) if each["Effect"].text != "Deny"]
    about = [each for each in statements if _may_include(each, *actions)]
    places = [place for each in about for place in each["Resource"].one_or_more]
    known = [each.pattern.partition("/")[2] for each in places if "/" in each.pattern]
    if not known or "$" in f"{key}{known}" or any(on not in each.targets for each in places):
        return False  # such as "*", which may hold the key
    wanted = (key, f"{key.rstrip('/')}/x")
    return not any(fnmatch.fnmatchcase(name, each) for name in wanted for each in known)


def _lacks_key(role: Resource, bucket: Resource, actions: Iterable[str]) -> str | None:
    """Return one of some actions that a role lacks on the key of a bucket, unless the key may allow it itself."""
    key = bucket_key(bucket).target
    if key is None or key.type != "AWS::KMS::Key" or role in key["KeyPolicy"].targets:
        return None
    return next((each for each in actions if not may(role, each, key)), None)


def _buckets(value: Property) -> list[Resource | str]:
    if not value.pattern.startswith("s3://"):
        return []
    named = value.pattern[5:].partition("/")[0]
    known = [each for each in value.targets if each.type == "AWS::S3::Bucket"]
    return [*known] if known else [f"{named}/*"] if named and "$" not in named else []


def _needed(at: Property) -> list[tuple[str, Resource | str | None]]:
    """Return what the execution role of a container does before it runs, and on what."""
    # https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_execution_IAM_role.html (2026-11)
    needed: list[tuple[str, Resource | str | None]] = []
    image, log = at["Image"], at["LogConfiguration"]
    if ".dkr.ecr." in image.pattern:
        name = image.pattern.partition("/")[2].partition("@")[0].partition(":")[0]
        own = next((each for each in image.targets if each.type == "AWS::ECR::Repository"), None)
        on = own or (f"repository/{name}" if name and "$" not in name else None)
        needed += [("ecr:GetAuthorizationToken", None)]
        needed += [(each, on) for each in ("ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")]
    if log["LogDriver"].text == "awslogs":
        group = log["Options"]["awslogs-group"]
        of = group.target if group.target is not None and group.target.type == "AWS::Logs::LogGroup" else None
        place = of or (f"log-group:{group.text}" if group.text else None)
        needed += [(each, place) for each in ("logs:CreateLogStream", "logs:PutLogEvents")]
    for source in (secret["ValueFrom"] for secret in at["Secrets"].items):
        kinds = {each.type for each in source.targets}
        if "AWS::SecretsManager::Secret" in kinds or ":secretsmanager:" in source.pattern:
            needed.append(("secretsmanager:GetSecretValue", None))
    return needed
