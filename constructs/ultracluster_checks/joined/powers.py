"""Permissions to spend, to escalate and to leak data, and access of other accounts."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_checks.jobs import job_containers
from ultracluster_checks.joined.life import FUNCTION
from ultracluster_checks.joined.nodes import nodes_of
from ultracluster_checks.joined.permissions import ROLE, may, role_of, trusts
from ultracluster_checks.policies import (
    RESOURCE_POLICIES,
    allowing,
    covers,
    identity_documents,
    is_bound,
    names_everything,
)
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import FUNCTION_IS_ALLOWED, NAMED_PRINCIPALS
from ultracluster_checks.template import Property, Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.findings import quote

_RESERVING: Final = (
    "ec2:CreateCapacityReservation",
    "ec2:CreateCapacityReservationFleet",
    "ec2:CreateCapacityReservationBySplitting",
    "ec2:ModifyCapacityReservation",
    "ec2:RequestSpotFleet",
    "ec2:RequestSpotInstances",
    "autoscaling:CreateAutoScalingGroup",
    "autoscaling:UpdateAutoScalingGroup",
    "batch:CreateComputeEnvironment",
    "ec2:AllocateHosts",
    "ec2:CreateFleet",
    "ec2:RunInstances",
)
_ESCALATING: Final = (
    "iam:AddUserToGroup",
    "iam:AttachGroupPolicy",
    "iam:AttachRolePolicy",
    "iam:AttachUserPolicy",
    "iam:CreateAccessKey",
    "iam:CreateLoginProfile",
    "iam:CreatePolicyVersion",
    "iam:DeleteRolePermissionsBoundary",
    "iam:PutGroupPolicy",
    "iam:PutRolePermissionsBoundary",
    "iam:PutRolePolicy",
    "iam:PutUserPolicy",
    "iam:SetDefaultPolicyVersion",
    "iam:UpdateAssumeRolePolicy",
    "iam:UpdateLoginProfile",
    "kms:CreateGrant",
    "kms:PutKeyPolicy",
    "lambda:AddPermission",
    "lambda:UpdateFunctionCode",
    "s3:PutBucketAcl",
    "s3:PutBucketPolicy",
    "sns:AddPermission",
)
_LEAKING: Final = (
    "dynamodb:DeleteTable",
    "dynamodb:GetItem",
    "dynamodb:Scan",
    "fsx:DeleteFileSystem",
    "kms:Decrypt",
    "kms:ScheduleKeyDeletion",
    "s3:DeleteBucket",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:PutObject",
    "secretsmanager:GetSecretValue",
    "ssm:GetParameter",
    "ssm:GetParameters",
    "ssm:SendCommand",
    "ssm:StartSession",
)
_ACCOUNT: Final = re.compile(r"(?<![0-9])[0-9]{12}(?![0-9])")
# Condition keys that identify the caller. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html (2026-11)
_WHO: Final = re.compile(
    r"aws:(?:principal.*|source(?:account|arn|orgid|orgpaths|vpc|vpce|ip|vpcarn)|vpcsourceip|userid|username|calledvia.*|resourceaccount|federatedprovider)"
    r"|.*:(?:sub|aud|calleraccount|viaservice|externalid|dataaccesspoint.*|sourceaccount|accesspointnetworkorigin)|s3:.*account.*|sns:.*|sqs:.*",
    re.IGNORECASE,
)
# Services that act for a resource of any account. https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html (2026-11)
_CONFUSED: Final = {
    "s3.amazonaws.com",
    "sns.amazonaws.com",
    "apigateway.amazonaws.com",
    "config.amazonaws.com",
}
# Actions that a service needs from the role that a resource passes to it.
_SERVICES: Final = (
    (FUNCTION, ("Role",), "lambda"),
    ("AWS::Scheduler::Schedule", ("Target", "RoleArn"), "scheduler"),
    ("AWS::Batch::ComputeEnvironment", ("ServiceRole",), "batch"),
    ("AWS::StepFunctions::StateMachine", ("RoleArn",), "states"),
    ("AWS::CodeBuild::Project", ("ServiceRole",), "codebuild"),
)
# Actions by which functions use the resources of their environment.
_USES: Final = {
    "AWS::Batch::ComputeEnvironment": ("batch",),
    "AWS::Batch::JobQueue": ("batch",),
    "AWS::DynamoDB::Table": ("dynamodb",),
    "AWS::S3::Bucket": ("s3",),
    "AWS::SNS::Topic": ("sns",),
    "AWS::SQS::Queue": ("sqs",),
    "AWS::SecretsManager::Secret": ("secretsmanager",),
}
_CALLS: Final = {
    "batch": ("batch:DescribeJobQueues", "batch:DescribeComputeEnvironments", "batch:ListJobs", "batch:SubmitJob", "batch:UpdateJobQueue", "batch:UpdateComputeEnvironment"),
    "dynamodb": ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:Query", "dynamodb:Scan", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem", "dynamodb:BatchGetItem"),
    "s3": ("s3:GetObject", "s3:PutObject", "s3:ListBucket", "s3:DeleteObject", "s3:GetBucketLocation"),
    "sns": ("sns:Publish",),
    "sqs": ("sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage"),
    "secretsmanager": ("secretsmanager:GetSecretValue",),
}  # fmt: skip


def _is_any(statement: Property, resource: Property) -> bool:
    return not is_bound(statement) and names_everything(resource)


def _places(statement: Property) -> list[Property]:
    return statement["Resource"].one_or_more


def _allowed(templates: Templates, actions: tuple[str, ...]) -> Iterator[tuple[Property, Property, str]]:
    """Return the statements that allow one of some actions by name, with the action as written and its name."""
    for statement, action in _allowances(templates):
        name = next((each for each in actions if covers(action, each)), None)
        if name is not None:
            yield statement, action, name


@lru_cache(maxsize=1)
def _allowances(templates: Templates) -> tuple[tuple[Property, Property], ...]:
    """Return the actions that policies of principals allow by name, each with its statement."""
    return tuple(
        (statement, action)
        for _, document in identity_documents(templates)
        for statement in allowing(document)
        for action in statement["Action"].one_or_more
        if (action.text or "").rpartition(":")[2].strip("*?")  # a whole service is reported as such
    )


def roles_reserve_no_capacity(templates: Templates) -> Iterator[Problem]:
    """Find permissions to reserve or start instances other than through the queues."""
    for statement, action, name in _allowed(templates, _RESERVING):
        places = _places(statement)
        if not is_bound(statement) and (
            any(each.text == "*" for each in places)
            or "Reservation" in name
            or any(_is_any(statement, each) for each in places)
        ):
            yield Problem.of(
                action,
                "UC6450",
                f"got {quote(action.text)}, which starts or reserves capacity that is billed at once ({name})",
                "nodes that AWS Batch or an Auto Scaling group starts, or a condition that names what may be started",
            )


def roles_write_no_policies(templates: Templates) -> Iterator[Problem]:
    """Find permissions that allow a role to grant itself any permission."""
    for statement, action, name in _allowed(templates, _ESCALATING):
        if not is_bound(statement) and any(
            _is_any(statement, each) or _is_own(each) for each in _places(statement)
        ):
            yield Problem.of(
                action,
                "UC6451",
                f"got {quote(action.text)}, with which the role takes any permission ({name})",
                "no such action, or the ARN of what is changed",
            )


def _is_own(at: Property) -> bool:
    """Whether a policy names the role that it belongs to."""
    target = at.target
    holders = {at.resource} | {each.target for each in at.resource["Roles"].items}
    return target is not None and target.type == ROLE and target in holders


def roles_assume_named_roles(templates: Templates) -> Iterator[Problem]:
    """Find permissions to assume every role."""
    for statement, action, name in _allowed(templates, ("sts:AssumeRole",)):
        for each in _places(statement):
            if _is_any(statement, each):
                yield Problem.of(
                    each,
                    "UC6452",
                    f"got {quote(each.pattern)} for {name}, which is every role that lets this account in",
                    f"the ARNs of the roles ({action.text})",
                )


def roles_read_named_data(templates: Templates) -> Iterator[Problem]:
    """Find permissions to read or write the data of every resource."""
    for statement, action, name in _allowed(templates, _LEAKING):
        for each in _places(statement):
            if _is_any(statement, each):
                yield Problem.of(
                    each,
                    "UC6453",
                    f"got {quote(each.pattern)} for {name}",
                    f"the ARNs of what {action.text} is for",
                )


def policies_exclude_other_accounts(templates: Templates) -> Iterator[Problem]:
    """Find policies and permissions for another account, or for everyone under a condition that does not restrict the principal."""
    own = _own_accounts(templates)

    def is_other(at: Property) -> bool:
        account = _ACCOUNT.search(at.pattern)
        return account is not None and own is not None and account[0] not in own

    for resource in templates.of_type(*RESOURCE_POLICIES):
        document = resource[RESOURCE_POLICIES[resource.type]]
        for statement in allowing(document):
            for at in (statement["Principal"], *statement["Principal"]["AWS"].one_or_more):
                if (
                    at.text == "*"
                    and not statement["Condition"].missing
                    and not _asks_who(statement["Condition"])
                ):
                    yield Problem.of(
                        at,
                        NAMED_PRINCIPALS,
                        "got '*' under a condition that does not say who",
                        "the principals by name",
                    )
                if is_other(at) and not _asks_who(statement["Condition"]):
                    yield Problem.of(
                        at,
                        "UC6454",
                        f"got {quote(at.pattern)}, which is another account",
                        "principals of this account, or a condition that names the organization",
                    )
            if not statement["NotPrincipal"].missing:
                yield Problem.of(
                    statement["NotPrincipal"],
                    NAMED_PRINCIPALS,
                    "everyone but those named",
                    "the principals by name",
                )
    for permission in templates.of_type("AWS::Lambda::Permission"):
        at = permission["Principal"]
        if is_other(at):
            yield Problem.of(
                at,
                "UC6454",
                f"got {quote(at.pattern)}, which is another account",
                "the service or this account",
            )


def _asks_who(condition: Property) -> bool:
    if condition.missing:
        return False
    if isinstance(condition.value, Unknown):
        return True
    keys = [
        key
        for operator in condition.members
        for key in operator.members
        if "Not" not in str(operator.path[-1])
    ]
    for key in keys:
        wide = any(
            each.text in {"*", "0.0.0.0/0", "::/0", "arn:aws:iam::*:*", "repo:*"}
            for each in (key, *key.items)
        )
        if _WHO.fullmatch(str(key.path[-1])) and not wide:
            return True
    return False


def _own_accounts(templates: Templates) -> set[str] | None:
    """Return the accounts that templates name in images and roles; None if they name none."""
    found: set[str] = set()
    for container in job_containers(templates):
        found.update(_ACCOUNT.findall(container.at["Image"].pattern))
    for function in templates.of_type(FUNCTION):
        found.update(_ACCOUNT.findall(function["Role"].pattern))
    tells = any(
        "AWS::AccountId" in json.dumps(template.source.body, default=str) for template in templates.all
    )
    return found if found or tells else None


def services_invoke_for_a_resource(templates: Templates) -> Iterator[Problem]:
    """Find permissions that let a service invoke a function on behalf of any account."""
    for permission in templates.of_type("AWS::Lambda::Permission"):
        service = permission["Principal"].text or ""
        limits = [
            permission[name] for name in ("SourceArn", "SourceAccount", "PrincipalOrgID", "EventSourceToken")
        ]
        if service in _CONFUSED and all(each.missing for each in limits):
            yield Problem.of(
                permission["SourceArn"],
                "UC6457",
                f"{service} may invoke the function for every account",
                "SourceArn, and SourceAccount for a bucket",
            )


def roles_are_for_their_service(templates: Templates) -> Iterator[Problem]:
    """Find roles that the service using them cannot assume, and roles in place of an instance profile."""
    for at, service in _handed(templates):
        role = role_of(at)
        if role is not None and not trusts(role, service):
            yield Problem.of(
                at,
                "UC6455",
                f"{role.logical_id} cannot be assumed by {service}.amazonaws.com",
                f"a role that trusts {service}.amazonaws.com",
            )
    for nodes in nodes_of(templates):
        at = nodes.settings["InstanceRole"]
        if nodes.in_batch and role_of(at) is not None:
            yield Problem.of(at, "UC6455", f"got {at.pattern}, which is a role", "an instance profile")


def _handed(templates: Templates) -> Iterator[tuple[Property, str]]:
    for kind, path, service in _SERVICES:
        for resource in templates.of_type(kind):
            at = resource.properties
            for key in path:
                at = at[key]
            yield at, service
    for container in job_containers(templates):
        yield container.at["JobRoleArn"], "ecs-tasks"
        yield container.at["ExecutionRoleArn"], "ecs-tasks"
    for rule in templates.of_type("AWS::Events::Rule"):
        yield from ((target["RoleArn"], "events") for target in rule["Targets"].items)
    for nodes in nodes_of(templates):
        for at in (
            nodes.settings["InstanceRole"],
            nodes.data["IamInstanceProfile"]["Arn"],
            nodes.data["IamInstanceProfile"]["Name"],
        ):
            if at.target is not None and at.target.type == "AWS::IAM::InstanceProfile":
                yield from ((each, "ec2") for each in at.target["Roles"].items)


def functions_may_use_what_they_are_told(templates: Templates) -> Iterator[Problem]:
    """Find functions whose environment names a resource that their role cannot access."""
    for function in templates.of_type(FUNCTION):
        role = role_of(function["Role"])
        for at in function["Environment"]["Variables"].members if role is not None else ():
            for target in at.targets:
                for service in _USES.get(target.type, ()):
                    if role is not None and not any(may(role, call, target) for call in _CALLS[service]):
                        yield Problem.of(
                            at,
                            FUNCTION_IS_ALLOWED,
                            f"the environment names {target.logical_id}, and {role.logical_id} allows nothing of {service} on it",
                            f"what the function does with it, such as {_CALLS[service][0]}",
                        )
