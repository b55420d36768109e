"""Permissions of the roles of a template: statements, managed policies and trust together."""

import fnmatch
import re
from functools import lru_cache
from typing import Final

from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import GAP

ROLE: Final = "AWS::IAM::Role"
PRINCIPALS: Final = ("AWS::IAM::Group", ROLE, "AWS::IAM::User")
_HOLDERS: Final = ("Roles", "Users", "Groups")
POLICIES: Final = (
    "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::RolePolicy", "AWS::IAM::UserPolicy",
)  # fmt: skip
# Everything of a kind: "*", or an ARN whose resource is a wildcard after at most its kind.
_ANY: Final = re.compile(
    r"\*|arn:(?:[^:{}]|\$\{[^{}]*\})*:[a-z0-9-]+:(?:[^:{}]|\$\{[^{}]*\})*:(?:[^:{}]|\$\{[^{}]*\})*:"
    r"(?:(?:role|policy|user|function|secret|parameter|table|instance|key)[/:])?\*(?:/\*)?"
)
_READING: Final = re.compile(r"\w+:(?:Describe|Get|List)")
# Actions that take no resource: a statement that names one allows nothing. Service Authorization Reference (2026-11).
_ALL_ONLY: Final = re.compile(
    r"autoscaling:Describe|batch:(?:Describe|List(?!Tags))|cloudwatch:(?:GetMetricData|ListMetrics|PutMetricData)|ec2:Describe|ecr:GetAuthorizationToken"
)
# The property that gives a resource a fixed name; without it, no fixed ARN names it.
NAMES: Final = {
    "AWS::Batch::ComputeEnvironment": "ComputeEnvironmentName",
    "AWS::Batch::JobQueue": "JobQueueName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::S3::Bucket": "BucketName",
}
# What the resource of an ARN begins with, by type. Service Authorization Reference (2026-11).
KINDS: Final = {
    "AWS::Batch::ComputeEnvironment": "compute-environment/",
    "AWS::Batch::JobDefinition": "job-definition/",
    "AWS::Batch::JobQueue": "job-queue/",
    "AWS::IAM::Role": "role/",
    "AWS::KMS::Key": "key/",
    "AWS::Logs::LogGroup": "log-group:",
}
# Services, or beginnings of actions, that managed policies of AWS allow anything of; any other one may allow everything.
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/policy-list.html (2026-11)
_MANAGED: Final = {
    "AWSLambdaBasicExecutionRole": {"logs"},
    "AWSLambdaVPCAccessExecutionRole": {"logs", "ec2"},
    "AmazonEC2ContainerRegistryPullOnly": {"ecr"},
    "AmazonEC2ContainerRegistryReadOnly": {"ecr"},
    "AmazonEC2ContainerServiceforEC2Role": {"ec2:Describe", "ecr", "ecs", "logs"},
    "AmazonECSTaskExecutionRolePolicy": {"ecr", "logs"},
    "EC2InstanceProfileForImageBuilder": {"ec2", "imagebuilder", "kms", "logs", "s3"},
    "AmazonS3FullAccess": {"s3", "s3-object-lambda"},
    "AmazonS3ReadOnlyAccess": {"s3", "s3-object-lambda"},
    "AmazonSSMManagedInstanceCore": {"ec2messages", "ssm", "ssmmessages"},
    "CloudWatchAgentServerPolicy": {"cloudwatch", "ec2", "logs", "ssm", "xray"},
}


@lru_cache(maxsize=1)
def identity_documents(templates: Templates) -> tuple[tuple[Resource, Property], ...]:
    """Return the policies of principals, each with its resource. A permissions boundary allows nothing by itself."""
    principals = list(templates.of_type(*PRINCIPALS))
    bounds = {each["PermissionsBoundary"].target for each in principals}
    own = [(each, policy) for each in principals for policy in each["Policies"].items]
    alone = [(each, each.properties) for each in templates.of_type(*POLICIES) if each not in bounds]
    return tuple((resource, policy["PolicyDocument"]) for resource, policy in (*own, *alone))


def allowing(document: Property) -> list[Property]:
    """Return the statements of a policy that allow something."""
    return [each for each in document["Statement"].one_or_more if each["Effect"].text == "Allow"]


def identity_statements(resource: Resource) -> list[Property]:
    """Return the statements of the policies that apply to a principal, or to those that a policy belongs to."""
    holders = _holders(resource)
    return [
        statement
        for other, document in identity_documents(resource.template.templates)
        if holders & _holders(other) or _may_be_of_any(other)
        for statement in document["Statement"].one_or_more
    ]


def _may_be_of_any(policy: Resource) -> bool:
    holders = [each for name in _HOLDERS for each in (policy[name], *policy[name].items)]
    return policy.type in POLICIES and any(each.unknown for each in (policy["RoleName"], *holders))


def _holders(resource: Resource) -> set[Resource]:
    roles = {each.target for name in _HOLDERS for each in resource[name].items}
    return {resource} | {role for role in roles if role is not None}


def conditions_of(statement: Property) -> list[Property]:
    """Return the keys of the condition of a statement."""
    return [key for operator in statement["Condition"].members for key in operator.members]


def is_bound(statement: Property) -> bool:
    """Return whether a condition narrows a statement: one that any value meets does not."""
    keys = conditions_of(statement)
    any_value = keys and all(each.text == "*" for key in keys for each in key.one_or_more)
    return not statement["Condition"].missing and not any_value


def names_everything(at: Property) -> bool:
    """Return whether a resource of a statement is everything, or everything of a kind."""
    return bool(_ANY.fullmatch(at.pattern))


def covers(action: Property, name: str) -> bool:
    """Return whether an action of a statement, perhaps with wildcards, is or includes an action."""
    return action.text is not None and bool(covered(action.text, (name,)))


@lru_cache(maxsize=4096)
def covered(action: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of some actions an action, perhaps with wildcards, is or includes."""
    pattern = action.lower().replace("[", "[[]")
    return tuple(name for name in names if fnmatch.fnmatchcase(name.lower(), pattern))


def role_of(at: Property) -> Resource | None:
    """Return the role of these templates that a property names."""
    found = at.target
    return found if found is not None and found.type == ROLE else None


def role_behind(at: Property) -> Resource | None:
    """Return the role of these templates that a property names, also by an instance profile."""
    found = at.target
    profile = found is not None and found.type == "AWS::IAM::InstanceProfile"
    roles = found["Roles"].items if found is not None and profile else []
    return role_of(roles[0]) if roles else role_of(at)


@lru_cache(maxsize=256)
def statements_of(role: Resource) -> tuple[Property, ...]:
    """Return the statements of a role: inline, attached, and in managed policies of these templates."""
    managed = [each.target for each in role["ManagedPolicyArns"].items]
    found = identity_statements(role)
    for policy in managed:
        if policy is not None and policy.type == "AWS::IAM::ManagedPolicy":
            found += policy["PolicyDocument"]["Statement"].one_or_more
    return tuple(found)


def may(role: Resource, action: str, on: Resource | str | None = None, *, many: bool = False) -> bool:
    """Return whether a role may do something, as far as the templates tell: what is unknown may.

    Args:
        role: A role of the templates.
        action: An action by its full name.
        on: What it is done to: a resource, or the end of an ARN. Default: anything.
        many: Whether it is done to what does not exist yet, such as jobs, so that fixed names are not enough. Default: no.
    """
    if role["ManagedPolicyArns"].unknown or role["Policies"].unknown:
        return True
    service = action.partition(":")[0]
    for policy in role["ManagedPolicyArns"].items:
        known = _MANAGED.get(policy.pattern.rpartition("/")[2], {service})
        if policy.target is None and any(
            action.startswith(each) for each in known if ":" in each or each == service
        ):
            return True
    limit = role["PermissionsBoundary"]
    if limit.pattern.endswith("/ReadOnlyAccess") and not _READING.match(action):
        return False
    within = limit.target["PolicyDocument"]["Statement"].one_or_more if limit.target is not None else None
    if within is not None and not any(_allows(each, action, None) for each in within):
        return False
    statements = statements_of(role)
    if any(each["Effect"].text == "Deny" and _denies(each, action, on) for each in statements):
        return False
    allowed = [each for each in statements if each["Effect"].text != "Deny" and _allows(each, action, on)]
    return any(not many or _names_many(each) for each in allowed) or role.is_shared


def _is_open(statement: Property) -> bool:
    """Return whether what a statement is about is not known, or all but what it names."""
    excluding = any(not statement[name].missing for name in ("NotAction", "NotResource"))
    return statement.unknown or statement["Effect"].unknown or excluding


def _denies(statement: Property, action: str, on: Resource | str | None) -> bool:
    covered = any(covers(each, action) for each in statement["Action"].one_or_more)
    if _is_open(statement) or not covered or not statement["Condition"].missing:
        return False
    kind = f":{action.partition(':')[0]}:"
    return any(
        each.text == "*" or (kind in each.pattern and each.pattern.endswith("*")) or on in each.targets
        for each in statement["Resource"].one_or_more
    )


def _allows(statement: Property, action: str, on: Resource | str | None) -> bool:
    if _is_open(statement):
        return True
    places = statement["Resource"].one_or_more
    if not any(each.text is None or covers(each, action) for each in statement["Action"].one_or_more):
        return False
    limited = bool(places) and all(each.targets or ":" in each.pattern for each in places)
    if (limited and _ALL_ONLY.match(action)) or _is_never_met(statement):
        return False
    if on is None:
        return not places or not all(_is_in_other_region(each) for each in places)
    return any(_may_name(each, on) for each in places)


def _is_never_met(statement: Property) -> bool:
    """Return whether a condition is not met by a role that calls the service itself in its Region."""
    region, condition = statement.resource.region, statement["Condition"]
    regions = condition["StringEquals"]["aws:RequestedRegion"]
    if region and regions.known and region not in {each.text for each in regions.one_or_more}:
        return True
    called_via = [str(key.path[-1]).lower().startswith("aws:calledvia") for key in conditions_of(statement)]
    return condition["Bool"]["aws:ViaAWSService"].flag is True or any(called_via)


def _names_many(statement: Property) -> bool:
    places = statement["Resource"].one_or_more
    return any("*" in each.pattern or (fixed_arn(each) is None and not each.targets) for each in places)


def _may_name(at: Property, on: Resource | str) -> bool:
    """Return whether a resource of a statement is, or may be, a resource of the templates or one of a name."""
    if at.targets:
        other = not isinstance(on, str) and any(target.type != on.type for target in at.targets)
        return on in at.targets or other
    text = fixed_arn(at)
    if isinstance(on, str):
        name = (text or "*").rpartition(":")[2]
        if on.endswith("/*"):  # objects of a bucket
            return fnmatch.fnmatchcase(on[:-2], name.partition("/")[0])
        return fnmatch.fnmatchcase(on, f"*{name}")
    if text is None or text == "*":
        return True
    if _is_in_other_region(at) or not may_be_kind(at, KINDS.get(on.type, "")):
        return False
    own = on[NAMES.get(on.type, "Name")].text
    fixed = "*" not in text.rpartition(":")[2] and on.type in NAMES
    return text.endswith(own) if fixed and own else not fixed


def may_be_kind(at: Property, kind: str) -> bool:
    """Return whether an ARN may be one of a kind: its resource begins so, or a wildcard or gap comes before."""
    parts = GAP.sub("*", at.pattern).split(":", 5)
    start = parts[-1].partition("*")[0]
    return len(parts) < 6 or start.startswith(kind) or ("*" in parts[-1] and kind.startswith(start))  # noqa: PLR2004 - as above


def fixed_arn(at: Property) -> str | None:
    """Return an ARN with ``*`` for account, partition and Region of the deployment; None if its resource is not known."""
    return None if not at.pattern or "${" in at.pattern.rpartition(":")[2] else GAP.sub("*", at.pattern)


def _is_in_other_region(at: Property) -> bool:
    parts = GAP.sub("*", at.pattern).split(":")
    return len(parts) > 5 and bool(at.resource.region) and parts[3] not in {"", "*", at.resource.region}  # noqa: PLR2004 - arn:partition:service:Region:...


def trusts(role: Resource, service: str) -> bool:
    """Return whether a service can assume a role, or may do so."""
    document = role["AssumeRolePolicyDocument"]
    if document.unknown or document["Statement"].unknown:
        return True
    statements = [each for each in document["Statement"].one_or_more if each["Effect"].text != "Deny"]
    principals = [statement["Principal"] for statement in statements]
    named = [each.pattern for principal in principals for each in principal["Service"].one_or_more]
    everyone = any(each.text == "*" or each.unknown for each in principals)
    return everyone or any(each.startswith("${") or each.partition(".")[0] == service for each in named)


def bucket_key(bucket: Resource) -> Property:
    """Return the key with which a bucket encrypts by default."""
    encryption = bucket["BucketEncryption"]
    rules = encryption["ServerSideEncryptionConfiguration"].items
    return (rules[0]["ServerSideEncryptionByDefault"] if rules else encryption)["KMSMasterKeyID"]
