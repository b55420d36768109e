"""Permissions of the roles of a template: statements, managed policies and trust together."""

import fnmatch
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_checks.policies import covers, identity_statements, may_allow
from ultracluster_checks.template import Property, Resource
from ultracluster_checks.values import Reference, Unknown

# Actions that take no resource: a statement that names one allows nothing. Service Authorization Reference (2026-11).
_GAP: Final = re.compile(r"\$\{[^{}]*\}")
_READING: Final = re.compile(r"\w+:(?:Describe|Get|List)")
_ALL_ONLY: Final = re.compile(r"batch:(?:Describe|List)|ec2:Describe|ecr:GetAuthorizationToken")
# The property that gives a resource a fixed name; without it, no fixed ARN names it.
_NAMES: Final = {
    "AWS::Batch::ComputeEnvironment": "ComputeEnvironmentName",
    "AWS::Batch::JobQueue": "JobQueueName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::S3::Bucket": "BucketName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::StepFunctions::StateMachine": "StateMachineName",
}
ROLE: Final = "AWS::IAM::Role"
# Services that managed policies of AWS allow anything of; any other one may allow everything.
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/policy-list.html (2026-11)
_MANAGED: Final = {
    "AWSLambdaBasicExecutionRole": {"logs"},
    "AWSLambdaVPCAccessExecutionRole": {"logs", "ec2"},
    "AmazonEC2ContainerRegistryPullOnly": {"ecr"},
    "AmazonEC2ContainerRegistryReadOnly": {"ecr"},
    "AmazonEC2ContainerServiceforEC2Role": {"ec2", "ecr", "ecs", "logs"},
    "AmazonECSTaskExecutionRolePolicy": {"ecr", "logs"},
    "AmazonS3FullAccess": {"s3", "s3-object-lambda"},
    "AmazonS3ReadOnlyAccess": {"s3", "s3-object-lambda"},
    "AmazonSSMManagedInstanceCore": {"ec2messages", "ssm", "ssmmessages"},
    "CloudWatchAgentServerPolicy": {"cloudwatch", "ec2", "logs", "ssm", "xray"},
}


def role_of(at: Property) -> Resource | None:
    """Return the role of these templates that a property names."""
    found = at.target
    return found if found is not None and found.type == ROLE else None


@lru_cache(maxsize=256)
def statements_of(role: Resource) -> tuple[Property, ...]:
    """Return the statements of a role: inline, attached, and in managed policies of these templates."""
    managed = [each.target for each in role["ManagedPolicyArns"].items]
    found = identity_statements(role)
    for policy in managed:
        if policy is not None and policy.type == "AWS::IAM::ManagedPolicy":
            found += policy["PolicyDocument"]["Statement"].one_or_more
    return tuple(found)


def inline_documents(role: Resource) -> Iterator[Property]:
    """Return the inline policies of a role, also those of ``AWS::IAM::Policy`` resources."""
    yield from (each["PolicyDocument"] for each in role["Policies"].items)
    templates = role.template.templates
    for policy in templates.of_type("AWS::IAM::Policy", "AWS::IAM::RolePolicy"):
        if role in {each.target for each in (*policy["Roles"].items, policy["RoleName"])}:
            yield policy["PolicyDocument"]


def may(role: Resource, action: str, on: Resource | str | None = None, *, many: bool = False) -> bool:
    """Return whether a role may do something, as far as the templates tell: what is unknown may.

    Args:
        role: A role of the templates.
        action: An action by its full name.
        on: What it is done to: a resource, or the end of an ARN. Default: anything.
        many: Whether it is done to what does not exist yet, such as jobs, so that fixed names are not enough. Default: no.
    """
    for name in ("ManagedPolicyArns", "Policies"):
        if isinstance(role[name].value, Unknown):
            return True
    service = action.partition(":")[0]
    for policy in role["ManagedPolicyArns"].items:
        if policy.target is None and service in _MANAGED.get(policy.pattern.rpartition("/")[2], {service}):
            return True
    if role["PermissionsBoundary"].pattern.endswith("/ReadOnlyAccess") and not _READING.match(action):
        return False
    boundary = role["PermissionsBoundary"].target
    if boundary is not None and not any(
        _is_about(each, action, None, denies=False)
        for each in boundary["PolicyDocument"]["Statement"].one_or_more
    ):
        return False
    statements = statements_of(role)
    if any(each["Effect"].text == "Deny" and _is_about(each, action, on, denies=True) for each in statements):
        return False
    return any(
        each["Effect"].text != "Deny"
        and _is_about(each, action, on, denies=False)
        and (not many or _names_many(each))
        for each in statements
    )


def _is_about(statement: Property, action: str, on: Resource | str | None, *, denies: bool) -> bool:
    unknown = isinstance(statement.value, Unknown) or isinstance(statement["Effect"].value, Unknown)
    if unknown or any(not statement[name].missing for name in ("NotAction", "NotResource")):
        return not denies
    actions, places = statement["Action"].one_or_more, statement["Resource"].one_or_more
    if not any(covers(each, action) or (not denies and each.text is None) for each in actions):
        return False
    if denies:
        kind = f":{action.partition(':')[0]}:"
        whole = any(
            each.text == "*" or (kind in each.pattern and each.pattern.endswith("*")) for each in places
        )
        return statement["Condition"].missing and (whole or any(on in each.targets for each in places))
    if _never_met(statement) or (
        _ALL_ONLY.match(action) and all(each.targets or ":" in each.pattern for each in places)
    ):
        return False
    if on is None:
        return not places or not all(other_region(each) for each in places)
    return any(_may_name(each, on) for each in places)


def _never_met(statement: Property) -> bool:
    """Return whether a condition is not met by a role that calls the service itself in its Region."""
    region, condition = statement.resource.template.region, statement["Condition"]
    regions = condition["StringEquals"]["aws:RequestedRegion"]
    if region and regions.known and region not in {each.text for each in regions.one_or_more}:
        return True
    keys = {str(key.path[-1]).lower() for operator in condition.members for key in operator.members}
    via = condition["Bool"]["aws:ViaAWSService"].flag is True
    return via or any(key.startswith("aws:calledvia") for key in keys)


def _names_many(statement: Property) -> bool:
    return any(
        "*" in each.pattern or isinstance(each.value, Unknown) for each in statement["Resource"].one_or_more
    )


def _may_name(at: Property, on: Resource | str) -> bool:
    """Return whether a resource of a statement is, or may be, a resource of the templates or one of a name."""
    if at.targets:
        return not isinstance(on, str) and (
            on in at.targets or any(target.type != on.type for target in at.targets)
        )
    text = fixed_arn(at)
    if isinstance(on, str):
        name = (text or "*").rpartition(":")[2]
        if on.endswith("/*"):  # objects of a bucket
            return fnmatch.fnmatchcase(on[:-2], name.partition("/")[0])
        return fnmatch.fnmatchcase(on, f"*{name}")
    if text is None or text == "*":
        return True
    if other_region(at):
        return False
    own = on[_NAMES.get(on.type, "Name")].text
    fixed = "*" not in text.rpartition(":")[2] and on.type in _NAMES
    return text.endswith(own) if fixed and own else not fixed


def fixed_arn(at: Property) -> str | None:
    """Return an ARN with ``*`` for account, partition and Region of the deployment; None if its resource is not known."""
    text = _GAP.sub("*", at.pattern)
    return None if not at.pattern or "${" in at.pattern.rpartition(":")[2] else text


def other_region(at: Property) -> bool:
    """Return whether an ARN is in another Region than the template."""
    parts, region = _GAP.sub("*", at.pattern).split(":"), at.resource.template.region
    return len(parts) > 5 and bool(region) and parts[3] not in {"", "*", region}  # noqa: PLR2004 - arn:partition:service:Region:...


def trusts(role: Resource, service: str) -> bool:
    """Return whether a service can assume a role, or may do so."""
    document = role["AssumeRolePolicyDocument"]
    if isinstance(document.value, Unknown) or isinstance(document["Statement"].value, Unknown):
        return True
    for statement in may_allow(document):
        principals = statement["Principal"]
        if principals.text == "*" or isinstance(principals.value, Unknown):
            return True
        for each in principals["Service"].one_or_more:
            if (
                each.pattern.partition(".")[0] == service
                or each.pattern.startswith("${")
                or isinstance(each.value, Reference | Unknown)
            ):
                return True
    return False
