"""IAM: named actions and principals, no administrators, and purchases only with an approved order."""

import fnmatch
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import NAMED_PRINCIPALS
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.findings import quote

EVERY_ACTION: Final = "UC6420"
POWERFUL_POLICY: Final = "UC6422"
PURCHASE: Final = "UC6425"

_IDENTITY: Final = {
    "AWS::IAM::Group": "Policies",
    "AWS::IAM::Role": "Policies",
    "AWS::IAM::User": "Policies",
}
_HOLDERS: Final = ("Roles", "Users", "Groups")
_ALONE: Final = (
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::RolePolicy",
    "AWS::IAM::UserPolicy",
)
# Endpoint policies grant nothing by themselves.
RESOURCE_POLICIES: Final = {
    "AWS::ECR::Repository": "RepositoryPolicyText",
    "AWS::IAM::Role": "AssumeRolePolicyDocument",
    "AWS::KMS::Key": "KeyPolicy",
    "AWS::S3::AccessPoint": "Policy",
    "AWS::S3::BucketPolicy": "PolicyDocument",
    "AWS::SNS::TopicInlinePolicy": "PolicyDocument",
    "AWS::SNS::TopicPolicy": "PolicyDocument",
    "AWS::SQS::QueueInlinePolicy": "PolicyDocument",
    "AWS::SQS::QueuePolicy": "PolicyDocument",
    "AWS::SecretsManager::ResourcePolicy": "ResourcePolicy",
}
"""Property with the policy of a resource, by type."""

# Actions in EC2 and SageMaker that commit to pay for capacity without a way to cancel.
_BUYING: Final = (
    "ec2:PurchaseCapacityBlock",
    "ec2:PurchaseCapacityBlockExtension",
    "ec2:PurchaseHostReservation",
    "ec2:PurchaseReservedInstancesOffering",
    "sagemaker:CreateTrainingPlan",
    "sagemaker:ExtendTrainingPlan",
    "savingsplans:CreateSavingsPlan",
)
# Everything of a kind: "*", or an ARN whose resource is a wildcard after at most its kind.
_ANY: Final = re.compile(
    r"\*|arn:(?:[^:{}]|\$\{[^{}]*\})*:[a-z0-9-]+:(?:[^:{}]|\$\{[^{}]*\})*:(?:[^:{}]|\$\{[^{}]*\})*:"
    r"(?:(?:role|policy|user|function|secret|parameter|table|instance|key)[/:])?\*(?:/\*)?"
)
_POWERFUL: Final = re.compile(
    r":policy/(?:AdministratorAccess|PowerUserAccess|IAMFullAccess|AmazonEC2FullAccess|AmazonS3FullAccess)$"
)
_ORDER_KEY: Final = re.compile(r"aws:(?:RequestTag|ResourceTag)/.+", re.IGNORECASE)


@lru_cache(maxsize=1)
def identity_documents(templates: Templates) -> tuple[tuple[Resource, Property], ...]:
    """Return the policies of principals, each with its resource."""
    return tuple(_identity_documents(templates))


def _identity_documents(templates: Templates) -> Iterator[tuple[Resource, Property]]:
    for resource in templates.of_type(*_IDENTITY):
        for policy in resource[_IDENTITY[resource.type]].items:
            yield resource, policy["PolicyDocument"]
    for resource in templates.of_type(*_ALONE):
        yield resource, resource["PolicyDocument"]


def allowing(document: Property) -> Iterator[Property]:
    """Return the statements of a policy that allow something."""
    for statement in document["Statement"].one_or_more:
        if statement["Effect"].text == "Allow":
            yield statement


def may_allow(document: Property) -> Iterator[Property]:
    """Return the statements of a policy that allow something, or may do so once deployed."""
    for statement in document["Statement"].one_or_more:
        if statement["Effect"].text != "Deny":
            yield statement


def actions_are_named(templates: Templates) -> Iterator[Problem]:
    """Find statements that allow a whole service, or use NotAction."""
    for _, document in identity_documents(templates):
        for statement in allowing(document):
            for action in statement["Action"].one_or_more:
                service, _, name = (action.text or "").partition(":")
                if service == "*" or (service and name and not name.strip("*?")):
                    yield Problem.of(
                        action, EVERY_ACTION, f"got {quote(action.text)}", "the required actions by name"
                    )
            if not statement["NotAction"].missing:
                yield Problem.of(
                    statement["NotAction"],
                    EVERY_ACTION,
                    "allows everything that is not listed, including actions that AWS adds later",
                    "the required actions by name",
                )


def principals_are_named(templates: Templates) -> Iterator[Problem]:
    """Find policies of roles, buckets, keys and topics with a public principal."""
    for resource in templates.of_type(*RESOURCE_POLICIES):
        for statement in allowing(resource[RESOURCE_POLICIES[resource.type]]):
            principal = statement["Principal"]
            named = [principal, *principal["AWS"].one_or_more] if not principal.missing else []
            for at in named:
                if at.text == "*" and statement["Condition"].missing:
                    yield Problem.of(
                        at,
                        NAMED_PRINCIPALS,
                        "got '*', which is everyone in every account",
                        "the principals by name",
                    )


def roles_are_not_administrators(templates: Templates) -> Iterator[Problem]:
    """Find roles with administrator policies."""
    for resource in templates.of_type(*_IDENTITY):
        for policy in resource["ManagedPolicyArns"].items:
            if _POWERFUL.search(policy.pattern):
                yield Problem.of(
                    policy,
                    POWERFUL_POLICY,
                    f"got {policy.pattern.rsplit('/', 1)[1]}",
                    "a policy with the required actions",
                )


def roles_are_passed_by_name(templates: Templates) -> Iterator[Problem]:
    """Find permissions to pass any role, which allow privilege escalation."""
    for _, document in identity_documents(templates):
        for statement in allowing(document):
            passes = any(covers(action, "iam:PassRole") for action in statement["Action"].one_or_more)
            for resource in statement["Resource"].one_or_more if passes else ():
                if names_everything(resource) and not is_bound(statement):
                    yield Problem.of(
                        resource,
                        "UC6423",
                        "allows passing every role, and so gaining its permissions",
                        "the ARNs of the roles",
                    )


def functions_know_their_callers(templates: Templates) -> Iterator[Problem]:
    """Find functions that anyone may invoke."""
    for permission in templates.of_type("AWS::Lambda::Permission"):
        principal = permission["Principal"]
        if principal.text == "*" and permission["PrincipalOrgID"].missing:
            yield Problem.of(
                principal, "UC6424", "got '*', which is everyone in every account", "the service or account"
            )
    for url in templates.of_type("AWS::Lambda::Url"):
        if url["AuthType"].text == "NONE":
            yield Problem.of(
                url["AuthType"],
                "UC6424",
                "got NONE: anyone who knows the URL can invoke the function",
                "AWS_IAM",
            )


def purchases_need_an_order(templates: Templates) -> Iterator[Problem]:
    """Find permissions to buy capacity without the condition of an approved, tagged order."""
    for resource, document in identity_documents(templates):
        for statement in allowing(document):
            for action in statement["Action"].one_or_more:
                bought = [each for each in _BUYING if covers(action, each)]
                if (
                    not bought or action.text == "*"
                ):  # reported as a wildcard, not for each action it contains
                    continue
                denied = [each for each in identity_statements(resource) if each["Effect"].text == "Deny"]
                free = [each for each in bought if not _is_held(each, statement, denied)]
                if free:
                    yield Problem.of(
                        action,
                        PURCHASE,
                        f"got {quote(action.text)}, which buys capacity ({free[0]}) without a way to cancel",
                        "a dedicated role, limited to approved orders by their tag (aws:RequestTag)",
                        "Remove the permission; `ultracluster capacity` buys outside of deployments",
                    )


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
    places = [
        policy["RoleName"],
        *(each for name in _HOLDERS for each in (policy[name], *policy[name].items)),
    ]
    return policy.type in _ALONE and any(isinstance(each.value, Unknown) for each in places)


def _holders(resource: Resource) -> set[Resource]:
    roles = {each.target for name in _HOLDERS for each in resource[name].items}
    return {resource} | {role for role in roles if role is not None}


def _is_held(action: str, statement: Property, denied: list[Property]) -> bool:
    if isinstance(statement["Condition"].value, Unknown) or _asks_for_order(statement["Condition"]):
        return True
    return any(
        _asks_for_order(each["Condition"]) and any(covers(at, action) for at in each["Action"].one_or_more)
        for each in denied
    )


def _asks_for_order(condition: Property) -> bool:
    return any(
        _ORDER_KEY.fullmatch(str(key.path[-1])) for operator in condition.members for key in operator.members
    )


def covers(action: Property, name: str) -> bool:
    """Return whether an action of a statement, perhaps with wildcards, is or includes an action."""
    pattern = action.text
    return pattern is not None and _matches(pattern.lower(), name.lower())


@lru_cache(maxsize=4096)
def _matches(pattern: str, name: str) -> bool:
    if "*" not in pattern and "?" not in pattern:
        return pattern == name
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def is_bound(statement: Property) -> bool:
    """Return whether a condition narrows a statement: one that any value meets does not."""
    keys = [key for operator in statement["Condition"].members for key in operator.members]
    return not statement["Condition"].missing and not (
        keys and all(each.text == "*" for key in keys for each in key.one_or_more)
    )


def names_everything(at: Property) -> bool:
    """Return whether a resource of a statement is everything, or everything of a kind."""
    return bool(_ANY.fullmatch(at.pattern))
