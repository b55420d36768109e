"""Roles of jobs and nodes: assumed by the service that uses them, and allowed what a job needs."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.jobs import JobContainer, job_containers
from ultracluster_checks.model.nodes import LAUNCH_TEMPLATE, launch_data, nodes_of
from ultracluster_checks.model.permissions import (
    ROLE,
    bucket_key,
    covers,
    may,
    role_of,
    statements_of,
    trusts,
)
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Reference
from ultracluster_checks.problem import Wrong, rule
from ultracluster_spec.container import PERMISSIONS, WRITTEN_OBJECTS
from ultracluster_spec.record import RuleRecord

# What is done to objects, and to the key that encrypts them.
_OBJECTS: Final = {"s3:GetObject": "kms:Decrypt", "s3:PutObject": "kms:GenerateDataKey"}
_BUCKET: Final = "AWS::S3::Bucket"
# What actions take. Service Authorization Reference, Amazon S3 (2026-11).
_TAKEN: Final = {"s3:GetObject": "object", "s3:ListBucket": "bucket", "s3:PutObject": "object"}


@rule("UC6455")
def roles_are_for_their_service(templates: Templates) -> Iterator[Wrong]:
    """Find roles that the service using them cannot assume, and roles in place of an instance profile."""
    for at, service in _passed(templates):
        role = role_of(at)
        if role is not None and not trusts(role, service):
            got = f"{role.logical_id} cannot be assumed by {service}.amazonaws.com"
            yield at, got, f"a role that trusts {service}.amazonaws.com"
    profiles = [nodes.settings["InstanceRole"] for nodes in nodes_of(templates) if nodes.in_batch]
    for data in (launch_data(each)["IamInstanceProfile"] for each in templates.of_type(LAUNCH_TEMPLATE)):
        profiles += [data["Name"], data["Arn"]]
    for at in profiles:
        if role_of(at) is not None:
            yield at, f"got {at.pattern}, which is a role", "an instance profile"


def _passed(templates: Templates) -> Iterator[tuple[Property, str]]:
    for container in job_containers(templates):
        yield from ((container.at[name], "ecs-tasks") for name in ("JobRoleArn", "ExecutionRoleArn"))
    for nodes in nodes_of(templates):
        profile = nodes.data["IamInstanceProfile"]
        for target in (at.target for at in (nodes.settings["InstanceRole"], profile["Arn"], profile["Name"])):
            if target is not None and target.type == "AWS::IAM::InstanceProfile":
                yield from ((each, "ec2") for each in target["Roles"].items)


@rule("UC6462", ROLE)
def objects_are_named_as_objects(role: Resource) -> Iterator[Wrong]:
    """Find actions on objects that a role is allowed on buckets only, and on buckets, on objects only."""
    allowed = [each for each in statements_of(role) if each["Effect"].text != "Deny" and not role.is_shared]
    for at in (action for statement in allowed for action in statement["Action"].one_or_more):
        kind = _TAKEN.get(at.text or "")
        same = [each for each in allowed if _may_include(each, str(at.text))] if kind else []
        places = [place for each in same for place in (each["Resource"].one_or_more or [each["Action"]])]
        if kind and not any(_may_be(place, kind) for place in places):
            yield at, f"{at.text} is allowed on no {kind}, and so on nothing", f"an ARN of a {kind}"


def _may_be(at: Property, kind: str) -> bool:
    tail = at.pattern.rpartition(":::")[2]
    bucket = isinstance(at.value, Reference | str) or any(each.type == _BUCKET for each in at.targets)
    return not (tail and bucket) or "*" in tail.partition("/")[0] or ("/" in tail) == (kind == "object")


def _may_include(statement: Property, action: str) -> bool:
    return any(each.text is None or covers(each, action) for each in statement["Action"].one_or_more)


@rule(PERMISSIONS, job_containers)
def roles_of_jobs_may_do_what_they_need(container: JobContainer) -> Iterator[Wrong]:
    """Find jobs whose role may not use the buckets of their environment, and execution roles that may not start them."""
    at, role = container.at["JobRoleArn"], role_of(container.at["JobRoleArn"])
    for name, value in container.environment.items():
        actions = ("s3:PutObject",) if WRITTEN_OBJECTS.search(name) else (*_OBJECTS,)
        for on in _buckets(value):
            lacks = role is not None and not any(may(role, each, on) for each in actions)
            if lacks or (at.missing and not isinstance(on, str)):
                place = on if isinstance(on, str) else on.logical_id
                who = role.logical_id if role else "a job without a role"
                got = f"{name} names {place}, and {who} does not allow {' or '.join(actions)} on its objects"
                yield value if role is not None else at, got, " and ".join(_OBJECTS) + " on its objects"
            bucket = on if role is not None and isinstance(on, Resource) else None
            if role and bucket and (closed := _lacks_key(role, bucket)):
                got = f"{bucket.logical_id} is encrypted with a key, and {role.logical_id} does not allow {closed} on it"
                yield value, got, "kms:Decrypt and kms:GenerateDataKey on the key"
    at = container.at["ExecutionRoleArn"]
    role = role_of(at)
    if lacking := ", ".join(each for each, on in _needed(container.at) if role and not may(role, each, on)):
        yield at, f"{at.pattern} does not allow {lacking}, and the container does not start", lacking


def _lacks_key(role: Resource, bucket: Resource) -> str | None:
    """Return what a role lacks on the key of a bucket, unless the key may allow it itself."""
    key = bucket_key(bucket).target
    if key is None or key.type != "AWS::KMS::Key" or role in key["KeyPolicy"].targets:
        return None
    return next((each for each in _OBJECTS.values() if not may(role, each, key)), None)


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


RECORDS: Final = (
    RuleRecord(
        "UC6455",
        "A role can be assumed by the service that uses it.",
        remedy="Let the trust policy name the service; nodes take an instance profile.",
        source="Field case lambda/lambda-role-not-assumable; IAM user guide, roles for AWS services, 2026-11.",
    ),
    RuleRecord(
        "UC6462",
        "A role is allowed actions on objects at objects, and on buckets at buckets.",
        remedy="Name objects by bucket/*, and buckets without it.",
        source="Service Authorization Reference, actions and their resource types, 2026-11.",
    ),
)
