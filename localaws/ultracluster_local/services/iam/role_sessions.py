"""Sessions of roles that nodes and tasks get, and which calls of Amazon ECS and AWS Batch the policies of the role let them make.

Only these are held to their policies. The key of the local AWS, and what its STS issues, may call everything.
"""

import io
import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import ServiceError
from ultracluster_local.services.iam.roles import find_role
from ultracluster_local.services.iam.simulation import decide
from ultracluster_local.services.rest_json import CREDENTIAL, operation_of

__all__ = ["is_session_key", "new_session", "refusal"]

# The resource of a call by the Service Authorization Reference, where it is not the ECS cluster:
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticcontainerservice.html (2026-11)
_ECS = {
    "Poll": ("containerInstance", "container-instance"),
    "StartTelemetrySession": ("containerInstance", "container-instance"),
    "UpdateContainerInstancesState": ("containerInstances", "container-instance"),
    "DescribeContainerInstances": ("containerInstances", "container-instance"),
    "StopTask": ("task", "task"),
    "DescribeTasks": ("tasks", "task"),
}
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbatch.html (2026-11)
_BATCH = {
    "jobQueue": "job-queue",
    "jobDefinition": "job-definition",
    "jobId": "job",
    "computeEnvironment": "compute-environment",
}


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


def refusal(environ: dict[str, Any]) -> tuple[str, str] | None:
    """Return the code and the message with which AWS denies a request of a session; None if it may be answered.

    The message is that of https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html (2026-11).

    Args:
        environ: WSGI environment of the request, whose body can be read again.
    """
    signed = CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
    session = _sessions().get(signed["key"]) if signed else None
    if signed is None or session is None:
        return None
    if environ.get("HTTP_X_AMZ_SECURITY_TOKEN") != session.token:
        return "InvalidClientTokenId", "The security token included in the request is invalid."
    service = signed["service"]
    if service not in ("batch", "ecs"):
        return "UnsupportedOperation", f"The local AWS evaluates no policies for requests of {service}"
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    parameters = json.loads(body or b"{}")
    operation = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2] or operation_of(service, environ)
    action = f"{service}:{operation}"
    context = {"ecs:cluster": [_cluster(parameters, signed["region"])]} if service == "ecs" else {}
    for resource in [*_resources(service, operation, parameters, signed["region"])] or ["*"]:
        try:
            decision = decide(find_role(session.role), action, resource, context)
        except ServiceError as error:
            return error.code, str(error.message)
        if decision != "allowed":
            return "AccessDeniedException", _words(session, action, resource, decision)
    return None


def _words(session: _Session, action: str, resource: str, decision: str) -> str:
    user = f"arn:aws:sts::{ACCOUNT}:assumed-role/{session.role.rpartition('/')[2]}/{session.name}"
    why = f"because no identity-based policy allows the {action} action"
    if decision == "explicitDeny":
        why = "with an explicit deny in an identity-based policy"
    return f"User: {user} is not authorized to perform: {action} on resource: {resource} {why}"


def _resources(service: str, operation: str, parameters: Mapping[str, Any], region: str) -> Iterator[str]:
    def arn(kind: str, name: str) -> str:
        return name if name.startswith("arn:") else f"arn:aws:{service}:{region}:{ACCOUNT}:{kind}/{name}"

    if service == "ecs":
        cluster = _cluster(parameters, region)
        member, kind = _ECS.get(operation, ("", ""))
        given = parameters.get(member) or []
        for name in given if isinstance(given, list) else [given]:
            yield arn(kind, name if name.startswith("arn:") else f"{cluster.rpartition('/')[2]}/{name}")
        if not member:
            yield cluster
    elif service == "batch":
        for member, kind in _BATCH.items():
            if member in parameters:
                yield arn(kind, str(parameters[member]))


def _cluster(parameters: Mapping[str, Any], region: str) -> str:
    name = str(parameters.get("cluster") or parameters.get("clusterName") or "default")
    return name if name.startswith("arn:") else f"arn:aws:ecs:{region}:{ACCOUNT}:cluster/{name}"
