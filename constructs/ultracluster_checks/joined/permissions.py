"""What the roles of a template may do: statements, managed policies and trust joined."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_checks.policies import allowing, covers, identity_statements
from ultracluster_checks.template import Property, Resource
from ultracluster_checks.values import Reference, Unknown

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


def may(role: Resource, action: str, on: Resource | None = None, *, many: bool = False) -> bool:
    """Return whether a role may do something, as far as the templates tell: what is unknown may.

    Args:
        role: A role of the templates.
        action: An action by its full name.
        on: What it is done to. Default: anything.
        many: Whether it is done to what does not exist yet, such as jobs, so that fixed names are not enough. Default: no.
    """
    for name in ("ManagedPolicyArns", "Policies"):
        if isinstance(role[name].value, Unknown):
            return True
    service = action.partition(":")[0]
    for policy in role["ManagedPolicyArns"].items:
        if policy.target is None and service in _MANAGED.get(policy.pattern.rpartition("/")[2], {service}):
            return True
    statements = statements_of(role)
    if any(each["Effect"].text == "Deny" and _is_about(each, action, on, denies=True) for each in statements):
        return False
    return any(
        each["Effect"].text != "Deny"
        and _is_about(each, action, on, denies=False)
        and (not many or _names_many(each))
        for each in statements
    )


def _is_about(statement: Property, action: str, on: Resource | None, *, denies: bool) -> bool:
    if (
        isinstance(statement.value, Unknown)
        or not statement["NotAction"].missing
        or not statement["NotResource"].missing
    ):
        return not denies
    actions = statement["Action"].one_or_more
    if not any(covers(each, action) or (not denies and each.text is None) for each in actions):
        return False
    region, regions = (
        statement.resource.template.region,
        statement["Condition"]["StringEquals"]["aws:RequestedRegion"],
    )
    if not denies and region and regions.known and region not in {each.text for each in regions.one_or_more}:
        return False
    places = statement["Resource"].one_or_more
    if denies:
        return statement["Condition"].missing and any(each.text == "*" for each in places)
    return on is None or any(_may_name(each, on) for each in places)


def _names_many(statement: Property) -> bool:
    return any(
        "*" in each.pattern or isinstance(each.value, Unknown) for each in statement["Resource"].one_or_more
    )


def _may_name(at: Property, resource: Resource) -> bool:
    if at.targets:
        return resource in at.targets or any(target.type != resource.type for target in at.targets)
    text = at.text
    return text is None or text == "*" or ":" in text


def trusts(role: Resource, service: str) -> bool:
    """Return whether a service can assume a role, or may do so."""
    document = role["AssumeRolePolicyDocument"]
    if isinstance(document.value, Unknown) or isinstance(document["Statement"].value, Unknown):
        return True
    for statement in allowing(document):
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
