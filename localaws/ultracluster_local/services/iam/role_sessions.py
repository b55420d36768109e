"""Which calls the policies of a caller allow.

Nodes and tasks get sessions of their roles, which are always held to the policies of the role. With `evaluate_policies` so are functions,
assumed roles and users; only the key of the local AWS and the roles of the CDK's bootstrap may call everything. Identity policies and
boundaries are evaluated; policies of resources are not. Actions and the ARNs that they are allowed on are those of AWS's Service Authorization
Reference, as cfn-lint carries it. A resource or a key of a condition that a request does not show counts for the caller, except in Amazon
ECS and AWS Batch, whose requests show all.
"""

import json
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

import flask
from moto.iam.models import iam_backends
from moto.sts.models import sts_backends

from ultracluster_local.instance.cfn_lint_data import data_directory
from ultracluster_local.instance.clients import service_model
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import is_running, running
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.iam.roles import find_role
from ultracluster_local.services.iam.simulation import decide
from ultracluster_local.services.rest_json import CREDENTIAL

__all__ = ["CODES", "authorize", "is_held", "is_session_key", "new_session"]

_STRICT: Final = frozenset({"batch", "ecs"})
_PREFIXES: Final = {
    "efs": "elasticfilesystem",
    "resource-groups": "resource-groups",
    "service-quotas": "servicequotas",
    "s3control": "s3",
}
"""Prefixes of actions that differ from the service's name in botocore."""
_ACTIONS: Final = {
    "budgets": {"DescribeBudget": "ViewBudget", "DescribeBudgets": "ViewBudget"},
    "lambda": {"Invoke": "InvokeFunction"},
    "s3": {
        "GetBucketNotificationConfiguration": "GetBucketNotification",
        "PutBucketNotificationConfiguration": "PutBucketNotification",
        **dict.fromkeys(("HeadBucket", "ListObjects", "ListObjectsV2"), "ListBucket"),
        **dict.fromkeys(("HeadObject", "GetObjectAttributes"), "GetObject"),
        **dict.fromkeys(
            ("CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "CopyObject"), "PutObject"
        ),
        "DeleteObjects": "DeleteObject",
        "ListBuckets": "ListAllMyBuckets",
        "ListObjectVersions": "ListBucketVersions",
    },
}
"""Actions of another name than their operation, by the Service Authorization Reference (2026-11)."""
_FREE: Final = frozenset({"sts:GetCallerIdentity"})
"""Actions that need no permission: https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html (2026-11)."""
_PARAMETERS: Final = {
    "object": "Key",
    "parameter": "Name",
    "secret": "SecretId",
    "rule-on-default-event-bus": "Rule",
    "schedule": "Name",
}
"""Parameters that name a resource in another way than by its kind."""
_FORMS: Final = {
    "autoscalinggroup": "*:autoScalingGroupName/{}",
    "container-instance": "{cluster}/{}",
    "log-group": "{}:*",
    "log-stream": "{logGroupName}:log-stream:{}",
    "object": "{Bucket}/{}",
    "schedule": "{GroupName}/{}",
    "stack": "{}/*",
    "task": "{cluster}/{}",
}
"""What follows the kind in an ARN, where it is not the name alone."""
_CODE_OF: Final = {"ec2": "UnauthorizedOperation", "sns": "AuthorizationError"}
CODES: Final = ("AccessDenied", "AccessDeniedException", "InvalidClientTokenId", *_CODE_OF.values())
"""Codes of denials, which the models of most services lack."""


@dataclass(frozen=True, slots=True)
class _Session:
    role: str
    name: str
    token: str


def _sessions() -> dict[str, _Session]:
    return region_state("iam:role sessions", region="aws", new=dict[str, _Session])


def new_session(role: str, name: str) -> dict[str, str]:
    """Return credentials of a role, as the metadata of an instance and the endpoint of a task show them.

    Args:
        role: ARN or name of a role.
        name: Name of the session.

    Raises:
        ValueError: If there is no such role.
    """
    found = find_role(role)
    if found is None:
        raise ValueError(f"there is no role {role}")
    key, token = f"ASIA{secrets.token_hex(8).upper()}", secrets.token_urlsafe(32)
    _sessions()[key] = _Session(found.arn, name, token)
    end = CLOCK.now() + timedelta(hours=6)  # which is told, not kept
    return {
        "AccessKeyId": key,
        "SecretAccessKey": secrets.token_urlsafe(30),
        "Token": token,
        "Expiration": f"{end:%Y-%m-%dT%H:%M:%SZ}",
    }


def is_session_key(key: str) -> bool:
    """Return whether an access key ID is one of a session."""
    return key in _sessions()


def is_held() -> bool:
    """Return whether the caller of the current request is held to policies."""
    return _caller() is not None


def _key() -> str:
    signed = CREDENTIAL.search(flask.request.headers.get("Authorization", ""))
    return signed["key"] if signed else ""


def _caller() -> tuple[Any, str] | None:
    """Return the role or user of the current request and the ARN that messages name; None for one who may call everything."""
    if not flask.has_request_context():
        return None
    key = _key()
    if session := _sessions().get(key):
        name = f"assumed-role/{session.role.rpartition('/')[2]}/{session.name}"
        return find_role(session.role), f"arn:aws:sts::{ACCOUNT}:{name}"
    if not is_running() or not running().evaluates_policies or key == running().clients.key:
        return None
    assumed = sts_backends[ACCOUNT]["aws"].get_assumed_role_from_access_key(key)
    if assumed is not None:
        role = find_role(assumed.role_arn)
        return None if role is None or role.name.startswith("cdk-") else (role, assumed.arn)
    users = iam_backends[ACCOUNT]["aws"].users.values()
    return next(
        ((one, one.arn) for one in users if any(key == owned.access_key_id for owned in one.access_keys)),
        None,
    )


def authorize(service: str, request: Request) -> None:
    """Refuse a request that the policies of its caller do not allow.

    The message is that of https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html (2026-11).

    Args:
        service: Service name of boto3.
        request: The request.

    Raises:
        ServiceError: If it is denied.
    """
    caller = _caller()
    if caller is None:
        return
    session = _sessions().get(_key())
    if session and flask.request.headers.get("X-Amz-Security-Token") != session.token:
        raise ServiceError("InvalidClientTokenId", "The security token included in the request is invalid.")
    prefix = _PREFIXES.get(service, service)
    action = f"{prefix}:{_ACTIONS.get(service, {}).get(request.operation, request.operation)}"
    if action in _FREE:
        return
    strict = service in _STRICT
    given = {
        "aws:requestedregion": request.region,
        "aws:principalaccount": ACCOUNT,
        "cloudwatch:namespace": request.parameters.get("Namespace"),
    }
    if service == "ecs":
        given["ecs:cluster"] = _cluster(request)
    context = {key: [str(value)] for key, value in given.items() if value}
    for resource in _resources(prefix, action, request):
        decision = decide(caller[0], action, resource, context, strict=strict)
        if decision != "allowed":
            why = f"because no identity-based policy allows the {action} action"
            if decision == "explicitDeny":
                why = "with an explicit deny in an identity-based policy"
            protocol = service_model(service).metadata["protocol"]
            code = _CODE_OF.get(service) or (
                "AccessDenied" if protocol in {"query", "rest-xml"} else "AccessDeniedException"
            )
            raise ServiceError(
                code,
                f"User: {caller[1]} is not authorized to perform: {action} on resource: {resource or '*'} {why}",
            )


@cache
def _reference() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(
        (data_directory() / "AdditionalSpecs" / "Policies.json").read_text("utf-8")
    )
    return found


def _resources(prefix: str, action: str, request: Request) -> list[str]:
    """Return the ARNs that a request names; ``*`` for an action without resources, an empty one if the request shows none."""
    actions = _reference().get(prefix, {}).get("Actions", {})
    known = actions.get(action.partition(":")[2].lower())
    if known is None:
        raise ServiceError(
            "UnsupportedOperation", f"The local AWS knows no action {action} to evaluate policies for"
        )
    kinds = {name.lower(): one for name, one in _reference()[prefix].get("Resources", {}).items()}
    found = [
        arn
        for kind in known.get("Resources") or []
        for form in kinds.get(kind.lower(), {}).get("ARNFormats", [])[-1:]
        for arn in _named(kind, form, request)
    ]
    return list(dict.fromkeys(found)) or ([""] if known.get("Resources") else ["*"])


def _named(kind: str, form: str, request: Request) -> Iterator[str]:
    place = {"${Partition}": "aws", "${Region}": request.region, "${Account}": ACCOUNT}
    given = {"GroupName": "default", **request.parameters, "cluster": _cluster(request).rpartition("/")[2]}
    for value in _values(kind, request.parameters):
        if value.startswith("arn:"):
            if fnmatchcase(value, re.sub(r"\$\{\w+\}|\.\*", "*", form)):
                yield value
        else:
            url, log = "://" in value, kind.startswith("log-")
            name = value.rpartition("/")[2] if url else value if log else value.removeprefix("/")
            shown = _FORMS.get(kind.lower(), "{}").replace("{}", "{name}").format_map({**given, "name": name})
            if kind == "document" and value.startswith("AWS"):  # those of AWS have no account
                place["${Account}"] = ""
            yield re.sub(r"\$\{\w+\}", lambda part: place.get(part[0], "*"), form).replace(".*", shown)


def _values(kind: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    for name, value in parameters.items():
        plain = re.sub(r"(name|arn|id|url)?s?$", "", name.lower())
        if name == _PARAMETERS.get(kind) or (plain == kind.lower().replace("-", "") and name != "jobName"):
            yield from (
                str(one) for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)
            )


def _cluster(request: Request) -> str:
    name = str(request.parameters.get("cluster") or request.parameters.get("clusterName") or "default")
    return name if name.startswith("arn:") else request.arn("ecs", f"cluster/{name}")
