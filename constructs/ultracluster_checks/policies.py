"""IAM policies: named actions and roles, no administrators, no escalation, and purchases only with an approved order."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_checks.codes import EVERY_ACTION
from ultracluster_checks.model.permissions import (
    PRINCIPALS,
    ROLE,
    allowing,
    conditions_of,
    covered,
    covers,
    identity_documents,
    identity_statements,
    is_bound,
    names_everything,
    role_of,
    trusts,
)
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.grants import BUYING
from ultracluster_spec.record import RuleRecord

POWERFUL_POLICY: Final = "UC6422"
PURCHASE: Final = "UC6425"

_POWERFUL: Final = re.compile(
    r":policy/(?:[\w-]+/)?(?:AdministratorAccess|PowerUserAccess|SystemAdministrator|SecretsManagerReadWrite|\w+FullAccess)$"
)
_ORDER_KEY: Final = re.compile(r"aws:(?:RequestTag|ResourceTag)/.+", re.IGNORECASE)
_RESERVING: Final = (
    "ec2:CreateCapacityReservation", "ec2:CreateCapacityReservationFleet",
    "ec2:CreateCapacityReservationBySplitting", "ec2:ModifyCapacityReservation", "ec2:RequestSpotFleet",
    "ec2:RequestSpotInstances", "autoscaling:CreateAutoScalingGroup", "autoscaling:UpdateAutoScalingGroup",
    "batch:CreateComputeEnvironment", "ec2:AllocateHosts", "ec2:CreateFleet", "ec2:RunInstances",
)  # fmt: skip
_ESCALATING: Final = (
    "iam:AddUserToGroup", "iam:AttachGroupPolicy", "iam:AttachRolePolicy", "iam:AttachUserPolicy",
    "iam:CreateAccessKey", "iam:CreateLoginProfile", "iam:CreatePolicyVersion",
    "iam:DeleteRolePermissionsBoundary", "iam:PutGroupPolicy", "iam:PutRolePermissionsBoundary",
    "iam:PutRolePolicy", "iam:PutUserPolicy", "iam:SetDefaultPolicyVersion", "iam:UpdateAssumeRolePolicy",
    "iam:UpdateLoginProfile", "kms:CreateGrant", "kms:PutKeyPolicy", "lambda:AddPermission",
    "lambda:UpdateFunctionCode", "s3:PutBucketAcl", "s3:PutBucketPolicy", "sns:AddPermission",
)  # fmt: skip
_OPENING: Final = {"kms:PutKeyPolicy", "s3:PutBucketAcl", "s3:PutBucketPolicy"}
_WORKERS: Final = ("ecs-tasks", "pods", "sagemaker")
_LEAKING: Final = (
    "cloudtrail:DeleteTrail", "cloudtrail:StopLogging", "dynamodb:DeleteTable", "dynamodb:GetItem",
    "dynamodb:Scan", "ec2:StopInstances", "ec2:TerminateInstances", "ecr:PutImage",
    "elasticfilesystem:DeleteFileSystem", "fsx:DeleteFileSystem", "kms:Decrypt", "kms:DisableKey",
    "kms:ScheduleKeyDeletion", "logs:DeleteLogGroup", "rds:DeleteDBInstance", "s3:DeleteBucket",
    "s3:DeleteObject", "s3:GetObject", "s3:PutObject", "secretsmanager:GetSecretValue", "ssm:GetParameter",
    "ssm:GetParameters", "ssm:SendCommand", "ssm:StartSession",
)  # fmt: skip


@lru_cache(maxsize=1)
def _allowances(templates: Templates) -> tuple[tuple[Property, Property], ...]:
    """Return the actions that policies of principals allow, each with its statement."""
    return tuple(
        (statement, action)
        for _, document in identity_documents(templates)
        for statement in allowing(document)
        for action in statement["Action"].one_or_more
    )


def _allowed(templates: Templates, actions: tuple[str, ...]) -> Iterator[tuple[Property, Property, str]]:
    """Return the statements that allow one of some actions, with the action as written and its name."""
    for statement, action in _allowances(templates):
        text = action.text or ""
        found = covered(text, actions)
        if found and text.rpartition(":")[2].strip("*?"):  # a whole service is reported as such
            yield statement, action, found[0]


def _unbound(statement: Property) -> list[Property]:
    """Return the resources of a statement that are everything of a kind, under no condition."""
    places = [] if is_bound(statement) else statement["Resource"].one_or_more
    return [each for each in places if names_everything(each)]


@rule(EVERY_ACTION)
def actions_are_named(templates: Templates) -> Iterator[Wrong]:
    """Find statements that allow a whole service, or use NotAction."""
    named = "the required actions by name"
    for _, action in _allowances(templates):
        service, _, name = (action.text or "").partition(":")
        if service == "*" or (service and name and not name.strip("*?")):
            yield action, f"got {quote(action.text)}", named
    for _, document in identity_documents(templates):
        for statement in allowing(document):
            if not statement["NotAction"].missing:
                got = "allows everything that is not listed, including actions that AWS adds later"
                yield statement["NotAction"], got, named
            if not statement["NotResource"].missing:
                got = "allows its actions on everything that is not listed"
                yield statement["NotResource"], got, "the resources by ARN"


@rule(POWERFUL_POLICY, *PRINCIPALS)
def roles_are_not_administrators(resource: Resource) -> Iterator[Wrong]:
    """Find roles with administrator policies."""
    in_pods = resource.type == ROLE and trusts(resource, "pods")
    for policy in resource["ManagedPolicyArns"].items:
        if in_pods and policy.pattern.endswith("/AmazonFSxFullAccess"):
            continue  # as the user guide of Amazon EKS tells for the CSI driver of FSx for Lustre
        if _POWERFUL.search(policy.pattern):
            yield policy, f"got {policy.pattern.rsplit('/', 1)[1]}", "a policy with the required actions"


@rule("UC6423")
def roles_are_passed_by_name(templates: Templates) -> Iterator[Wrong]:
    """Find permissions to pass any role, which allow privilege escalation."""
    for statement, action in _allowances(templates):
        keys = {str(key.path[-1]).lower() for key in conditions_of(statement)}
        wide = [each for each in statement["Resource"].one_or_more if names_everything(each)]
        # The service that gets a role does not limit which role it gets.
        bound = is_bound(statement) and keys != {"iam:passedtoservice"}
        for place in wide if covers(action, "iam:PassRole") and not bound else ():
            got = "allows passing every role, and so gaining its permissions"
            yield place, got, "the ARNs of the roles"


@rule(PURCHASE)
def purchases_need_an_order(templates: Templates) -> Iterator[Wrong]:
    """Find permissions to buy capacity without the condition of an approved, tagged order."""
    for statement, action in _allowances(templates):
        bought = covered(action.text or "", BUYING)
        if not bought or action.text == "*" or _asks_for_order(statement):
            continue  # everything is reported as a wildcard, not for each action it contains
        denied = [
            each
            for each in identity_statements(statement.resource)
            if each["Effect"].text == "Deny" and _asks_for_order(each) and not each["Condition"].unknown
        ]
        guarded = [at for each in denied for at in each["Action"].one_or_more]
        if free := [name for name in bought if not any(covers(at, name) for at in guarded)]:
            got = f"got {quote(action.text)}, which buys capacity ({free[0]}) without a way to cancel"
            allowed = "a dedicated role, limited to approved orders by their tag (aws:RequestTag)"
            remedy = "Remove the permission; `ultracluster capacity` buys outside of deployments"
            yield action, got, allowed, remedy


def _asks_for_order(statement: Property) -> bool:
    keys, condition = [str(key.path[-1]) for key in conditions_of(statement)], statement["Condition"]
    unknown = any(each.unknown for each in (condition, *condition.members))
    return unknown or any(_ORDER_KEY.fullmatch(key) for key in keys)


@rule("UC6450")
def roles_reserve_no_capacity(templates: Templates) -> Iterator[Wrong]:
    """Find permissions to reserve or start instances other than through the queues."""
    for statement, action, name in _allowed(templates, _RESERVING):
        role = statement.resource
        if role.type == ROLE and any(trusts(role, each) for each in ("batch", "cloudformation")):
            continue  # the service role, with which AWS Batch starts nodes, and that of deployments
        if _unbound(statement) or ("Reservation" in name and not is_bound(statement)):
            got = f"got {quote(action.text)}, which starts or reserves billed capacity ({name})"
            started = "a condition that names what may be started"
            yield action, got, f"nodes that AWS Batch or an Auto Scaling group starts, or {started}"


@rule("UC6451")
def roles_write_no_policies(templates: Templates) -> Iterator[Wrong]:
    """Find permissions that allow a role to grant itself any permission."""
    for statement, action, name in _allowed(templates, _ESCALATING):
        to_itself = not is_bound(statement) and any(map(_is_own, statement["Resource"].one_or_more))
        role = statement.resource
        opens = name in _OPENING and role.type == ROLE and any(trusts(role, each) for each in _WORKERS)
        if to_itself or opens or _unbound(statement):
            gained = "a job opens its data to everybody" if opens else "the role takes any permission"
            got = f"got {quote(action.text)}, with which {gained} ({name})"
            yield action, got, "no such action, or the ARN of what is changed"


def _is_own(at: Property) -> bool:
    """Return whether a policy names the role that it belongs to."""
    holders = {at.resource} | {each.target for each in at.resource["Roles"].items}
    return role_of(at) is not None and at.target in holders


@rule()
def roles_use_named_resources(templates: Templates) -> Iterator[Wrong]:
    """Find permissions to assume every role, and to read or write the data of every resource."""
    for code, actions, what, of in (
        ("UC6452", ("sts:AssumeRole",), ", which is every role that lets this account in", "the roles"),
        ("UC6453", _LEAKING, "", "what it is for"),
    ):
        for statement, action, name in _allowed(templates, actions):
            role = statement.resource
            if name.startswith("ec2:") and role.type == ROLE and trusts(role, "batch"):
                continue  # the service role, which ends nodes too
            for each in _unbound(statement):
                got = f"got {quote(each.pattern)} for {name}{what}"
                yield Problem.of(each, code, got, f"the ARNs of {of} ({action.text})")


RECORDS: Final = (
    RuleRecord(
        "UC6422",
        "No role has administrator permissions.",
        remedy="Write a policy with the actions that are needed.",
        source="AWS IAM user guide, least privilege.",
    ),
    RuleRecord(
        "UC6423",
        "A policy allows iam:PassRole only for named roles.",
        remedy="Name the roles, and the service under iam:PassedToService.",
        source="AWS IAM user guide, passing roles.",
    ),
    RuleRecord(
        "UC6425",
        "Only approved orders buy capacity.",
        remedy="Remove the permission. `ultracluster capacity` buys outside of deployments, with a separate role.",
        source="Our decision: PurchaseCapacityBlock has no idempotency token (botocore 1.44.5), and a purchase cannot be taken back.",
        never_left_out=True,
    ),
    RuleRecord(
        "UC6450",
        "No role can reserve capacity or start instances outside the queues.",
        remedy="Remove the permission, or add a condition that names what may be started.",
        source="EC2 user guide, Capacity Reservations, 2026-11: billed from creation; Service Authorization Reference, Amazon EC2.",
    ),
    RuleRecord(
        "UC6451",
        "No role can grant itself permissions.",
        remedy="Remove the permission, or name what may be changed, under a permissions boundary.",
        source="IAM user guide, permissions management actions and boundaries, 2026-11.",
    ),
    RuleRecord(
        "UC6452",
        "A role assumes other roles by name.",
        remedy="List the ARNs of the roles.",
        source="IAM user guide, grant a user permissions to switch roles, 2026-11.",
    ),
    RuleRecord(
        "UC6453",
        "A role reads and writes data that is named.",
        severity=Severity.WARNING,
        remedy="List the ARNs of buckets, tables, keys, secrets and instances.",
        source="IAM user guide, grant least privilege, 2026-11.",
    ),
)
