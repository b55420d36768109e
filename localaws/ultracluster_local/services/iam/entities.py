"""IAM roles and policies: how they are described, trust policies, limits, AWS managed policies and service-linked roles."""

import functools
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moto.core.serialize import url_encode
from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import (
    AWSManagedPolicy,
    Group,
    IAMBackend,
    InstanceProfile,
    ManagedPolicy,
    User,
    iam_backends,
)
from moto.iam.responses import IamResponse
from moto.iam.utils import generate_access_key_id_from_account_id

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Handlers, Request, ServiceError
from ultracluster_local.services.iam.policy_grammar import as_list, document, missing_principal, statements
from ultracluster_local.services.iam.roles import find_role
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_check = Checks(service="iam")
_handlers = Handlers(service="iam")
_sts = Checks(service="sts")

_LONGEST_SESSION = 3600

# IAM quotas, https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html; white space does not count.
_LONGEST_TRUST_POLICY = 2048
_LONGEST_INLINE_POLICIES = 10_240
_LONGEST_MANAGED_POLICY = 6144
_MOST_MANAGED_POLICIES = 10

_ARN = re.compile(r"arn:[\w-]+:iam::(?:aws|\d{12}):policy/.+")
_AWS_POLICY = re.compile(r"arn:[\w-]+:iam::aws:policy(/.*)")
_WITH_SUFFIX = frozenset({"autoscaling.amazonaws.com", "connect.amazonaws.com", "lexv2.amazonaws.com"})
"""Services whose service-linked roles take a suffix; most others refuse one."""


_PREFIXES = {Group: "AGPA", InstanceProfile: "AIPA", ManagedPolicy: "ANPA", User: "AIDA"}
"""Prefixes of IDs: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-prefixes (2026-11)."""


def _identified(original: Any, made: Any, *given: Any, **named: Any) -> None:
    original(made, *given, **named)
    prefix = next(prefix for kind, prefix in _PREFIXES.items() if isinstance(made, kind))
    made.id = generate_access_key_id_from_account_id(ACCOUNT, prefix, total_length=21)


for _kind in _PREFIXES:
    instead_of(_kind, "__init__")(_identified)


_DOCUMENTS = (
    "CreateServiceLinkedRoleResponse.Role.AssumeRolePolicyDocument",
    "InstanceProfileResponse.InstanceProfile.Roles.Role.AssumeRolePolicyDocument",
    "InstanceProfiles.InstanceProfile.Roles.Role.AssumeRolePolicyDocument",
    "ListRolesResponse.Roles.Role.AssumeRolePolicyDocument",
    "PolicyVersionResponse.PolicyVersion.Document",
    "Versions.PolicyVersion.Document",
)
"""Ends of the paths of policies that moto answers without the encoding of URLs."""
IamResponse.RESPONSE_KEY_PATH_TO_TRANSFORMER.update(dict.fromkeys(_DOCUMENTS, url_encode))


_LINKED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["linked_roles"]


@instead_of(IAMBackend, "create_service_linked_role")
def _linked(original: Any, iam: Any, service_name: str, description: str, suffix: str) -> Any:
    """Name a role, and trust and attach what AWS does: test_iam.snapshot.json."""
    statement = {"Effect": "Allow", "Principal": {"Service": service_name}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    if service_name not in _LINKED:
        role = original(iam, service_name, description, suffix)
        role.assume_role_policy_document = trust
        return role
    known, policy = _LINKED[service_name]
    name, path = f"AWSServiceRoleFor{known}", f"/aws-service-role/{service_name}/"
    role = iam.create_role(
        f"{name}_{suffix}" if suffix else name, trust, path, None, description, [], "3600", service_name
    )
    arn = f"arn:aws:iam::aws:policy/aws-service-role/{policy}"
    _know(arn)
    iam.attach_role_policy(arn, role.name)
    return role


@instead_of(IAMBackend, "delete_service_linked_role")
def _unlinked(original: Any, iam: Any, name: str) -> str:
    """Detach the policies first, and name the task as AWS does: the same snapshot."""
    role = iam.get_role(name)
    for arn in list(role.managed_policies):
        iam.detach_role_policy(arn, name)
    return f"task{role.path}{name}/{original(iam, name)}"


def _malformed(message: str) -> ServiceError:
    return ServiceError("MalformedPolicyDocument", message)


@_check("CreateRole", "UpdateAssumeRolePolicy")
def check_trust_policy(request: Request) -> None:
    """Refuse an invalid trust policy."""
    text = request.parameters.get("AssumeRolePolicyDocument") or request.parameters["PolicyDocument"]
    policy = document(text)
    if policy is None:
        raise _malformed("This policy contains invalid Json")
    if len(re.sub(r"\s", "", text)) > _LONGEST_TRUST_POLICY:
        # aws/aws-cdk#24845 and others: the default of the quota; it can be raised to 4,096.
        raise ServiceError(
            "LimitExceeded", f"Cannot exceed quota for ACLSizePerRole: {_LONGEST_TRUST_POLICY}"
        )
    for statement in statements(policy):
        _check_trust_statement(statement)
    absent = missing_principal(policy)
    if absent:
        raise _malformed(f'Invalid principal in policy: "AWS":"{absent}"')  # opstrace/opstrace#88


def _check_trust_statement(statement: Mapping[str, Any]) -> None:
    for name in ("Resource", "NotResource"):
        if name in statement:
            raise _malformed(f"Has prohibited field {name}")  # kubernetes-sigs/external-dns#3085
    for name in ("Effect", "Action"):
        if name not in statement and f"Not{name}" not in statement:
            raise _malformed(f"Missing required field {name}")
    if "Principal" not in statement and "NotPrincipal" not in statement:
        raise _malformed("Missing required field Principal")
    _check_principals(statement)
    actions = as_list(statement.get("Action"))
    if any(not re.match(r"(?i)sts:|\*$", str(action)) for action in actions):
        raise _malformed("AssumeRole policy may only specify STS AssumeRole actions.")


def _check_principals(statement: Mapping[str, Any]) -> None:
    principal = statement.get("Principal")
    if isinstance(principal, dict) and not any(as_list(one) for one in principal.values()):
        # terraform-aws-modules/terraform-aws-iam#47
        reason = "com.amazon.balsa.error.InvalidPolicyException: The passed in policy has a statement with no principals!"
        raise _malformed(f"Invalid principal in policy: {reason}")
    if isinstance(principal, dict):
        for service in as_list(principal.get("Service")):
            if isinstance(service, str) and "." not in service:
                raise _malformed(f'Invalid principal in policy: "SERVICE":"{service}"')


@_check("PutRolePolicy", "CreatePolicy", "CreatePolicyVersion")
def check_identity_policy(request: Request) -> None:
    """Refuse a policy that names a principal, or is too long."""
    text = request.parameters["PolicyDocument"]
    policy = document(text)
    if policy is None:
        return  # moto refuses an invalid document
    if any("Principal" in statement for statement in statements(policy)):
        raise _malformed("Policy document should not specify a principal.")
    if request.operation != "PutRolePolicy" and len(re.sub(r"\s", "", text)) > _LONGEST_MANAGED_POLICY:
        raise ServiceError("LimitExceeded", f"Cannot exceed quota for PolicySize: {_LONGEST_MANAGED_POLICY}")


@_check("PutRolePolicy")
def check_put_role_policy(request: Request) -> None:
    """Refuse inline policies that together are too long."""
    name = request.parameters["RoleName"]
    role = next((one for one in iam_backends[ACCOUNT]["aws"].roles.values() if one.name == name), None)
    if role is None:
        return
    documents = {**role.policies, request.parameters["PolicyName"]: request.parameters["PolicyDocument"]}
    if sum(len(re.sub(r"\s", "", str(text))) for text in documents.values()) > _LONGEST_INLINE_POLICIES:
        problem = f"Maximum policy size of {_LONGEST_INLINE_POLICIES} bytes exceeded for role {name}"
        raise ServiceError("LimitExceeded", problem)


@_check("AttachRolePolicy", "AttachUserPolicy", "AttachGroupPolicy")
def check_attach_policy(request: Request) -> None:
    """Refuse an invalid ARN; load a policy of AWS when it is first attached."""
    arn = request.parameters["PolicyArn"]
    if not _ARN.fullmatch(arn):
        problem = f"ARN {arn} is not valid." if ":" in arn else "Invalid ARN:  Could not be parsed!"
        raise ServiceError("ValidationError", problem)
    _know(arn)


@_check(
    *("CreateRole", "CreateUser", "GetPolicy", "GetPolicyVersion"),
    *("PutRolePermissionsBoundary", "PutUserPermissionsBoundary"),
)
def know_policy(request: Request) -> None:
    """Load a policy of AWS when a request names it; refuse a boundary and a version that do not exist."""
    boundary, version = request.parameters.get("PermissionsBoundary"), request.parameters.get("VersionId")
    arn = str(boundary or request.parameters.get("PolicyArn") or "")
    _know(arn)
    policy = iam_backends[ACCOUNT]["aws"].managed_policies.get(arn)
    if boundary and policy is None and _ARN.fullmatch(arn):
        raise ServiceError("NoSuchEntity", f"Scope ARN: {arn} does not exist or is not attachable.")
    if version and policy is not None and all(one.version_id != version for one in policy.versions):
        problem = f"Policy {arn} version {version} does not exist or is not attachable."
        raise ServiceError("NoSuchEntity", problem)


def _know(arn: str) -> None:
    """Add an AWS managed policy to moto, which does not load its 1,500 by default."""
    policies = iam_backends[ACCOUNT]["aws"].managed_policies
    named = _AWS_POLICY.fullmatch(arn)
    if named is None or arn in policies:
        return
    name = named[1].rsplit("/", 1)[-1]
    data = _aws_policies().get(name)
    if data is not None and f"{data['Path']}{name}" == named[1]:
        policies[arn] = AWSManagedPolicy.from_data(name, ACCOUNT, "us-east-1", data)


@functools.cache
def _aws_policies() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(aws_managed_policies_data)
    return found


@_check("CreateServiceLinkedRole")
def check_create_service_linked_role(request: Request) -> None:
    """Refuse a suffix for services that take none."""
    service = request.parameters["AWSServiceName"]
    if request.parameters.get("CustomSuffix") and service not in _WITH_SUFFIX:
        raise ServiceError("InvalidInput", f"Custom suffix is not allowed for {service}")


@_check("AttachRolePolicy")
def check_attach_role_policy(request: Request) -> None:
    """Refuse more managed policies than a role can have (aws/eks-hybrid#741, 2025-09-12)."""
    role = find_role(request.parameters["RoleName"])
    if (
        role is not None
        and request.parameters["PolicyArn"] not in role.managed_policies
        and len(role.managed_policies) >= _MOST_MANAGED_POLICIES
    ):
        raise ServiceError(
            "LimitExceeded", f"Cannot exceed quota for PoliciesPerRole: {_MOST_MANAGED_POLICIES}"
        )


@_check("ListInstanceProfilesForRole")
def check_role(request: Request) -> None:
    """Refuse a role that does not exist: cloud-custodian/cloud-custodian, tests/data/placebo."""
    if find_role(request.parameters["RoleName"]) is None:
        raise ServiceError("NoSuchEntity", f"Role {request.parameters['RoleName']} not found")


def _bounded(policy: ManagedPolicy) -> int:
    roles = iam_backends[ACCOUNT]["aws"].roles.values()
    return sum(role.permissions_boundary_arn == policy.arn for role in roles)


ManagedPolicy.permissions_boundary_usage_count = property(_bounded)


@_check("DeletePolicy")
def check_delete_policy(request: Request) -> None:
    """Refuse a policy of a role, user or group (rebuy-de/aws-nuke#819), a boundary (gruntwork-io/cloud-nuke#972), or with versions."""
    policy = iam_backends[ACCOUNT]["aws"].managed_policies.get(request.parameters["PolicyArn"])
    if policy is not None and (policy.attachment_count or policy.permissions_boundary_usage_count):
        raise ServiceError("DeleteConflict", "Cannot delete a policy attached to entities.")
    if policy is not None and len(policy.versions) > 1:  # API_DeletePolicy
        problem = "Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy."
        raise ServiceError("DeleteConflict", f"This policy has more than one version. {problem}")


@_check("DeleteUser", "DeleteGroup")
def check_delete_entity(request: Request) -> None:
    """Refuse a user or group that still has something: API_DeleteUser and API_DeleteGroup."""
    iam, given = iam_backends[ACCOUNT]["aws"], request.parameters
    user, group = iam.users.get(given.get("UserName")), iam.groups.get(given.get("GroupName"))
    groups = [group] if group else [one for one in iam.groups.values() if user in one.users]
    held = {
        "remove users from group": [one for one in groups if one.users],
        "delete access keys": user and user.access_keys,
        "delete login profile": user and user.password,
        "detach all policies": group and group.managed_policies,
        "delete policies": group and group.policies,
    }
    for words in (words for words, things in held.items() if things):
        raise ServiceError("DeleteConflict", f"Cannot delete entity, must {words} first.")


@_check(
    *("AttachRolePolicy", "DeleteRole", "DeleteRolePermissionsBoundary", "DeleteRolePolicy"),
    *("DetachRolePolicy", "PutRolePermissionsBoundary", "PutRolePolicy", "UpdateAssumeRolePolicy"),
)
def check_service_linked_role(request: Request) -> None:
    """Refuse changes of a role of a service: IAM/latest/UserGuide/using-service-linked-roles.html."""
    role = find_role(request.parameters["RoleName"])
    if role is not None and role.path.startswith("/aws-service-role/"):
        problem = f"Cannot perform the operation on the protected role '{role.name}'"
        raise ServiceError("UnmodifiableEntity", f"{problem} - this role is only modifiable by AWS")


@_handlers("PutUserPermissionsBoundary")
@_handlers("DeleteUserPermissionsBoundary")
def set_user_boundary(request: Request) -> Mapping[str, Any]:
    """Set or take away the boundary of a user, which moto lacks."""
    user = iam_backends[ACCOUNT]["aws"].get_user(request.parameters["UserName"])
    arn = request.parameters.get("PermissionsBoundary")
    boundary = {"PermissionsBoundaryType": "Policy", "PermissionsBoundaryArn": arn}
    user.permissions_boundary = boundary if arn else None
    return {}


@_sts("AssumeRole")
def check_assume_role(request: Request) -> None:
    """Refuse a session that is longer than the role allows: API_AssumeRole, DurationSeconds."""
    role = find_role(request.parameters["RoleArn"])
    longest = int(getattr(role, "max_session_duration", None) or _LONGEST_SESSION)
    if role is not None and (request.parameters.get("DurationSeconds") or 0) > longest:
        problem = "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."
        raise ServiceError("ValidationError", problem)
