"""What a job can ask its node: the metadata of the instance, and the credentials of its task.

On AWS both have addresses of their own (169.254.169.254, 169.254.170.2). Here they are paths of the local AWS, which nobody can
guess; a container has them in the variables from which AWS's SDKs take such addresses.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import region_state
from ultracluster_local.jobs.nodes import Node
from ultracluster_local.services.iam.role_sessions import new_session

__all__ = ["PREFIX", "answer", "is_metadata", "variables"]

PREFIX = "/_ultracluster/metadata/"
_NOWHERE = "http://127.0.0.1:1/"  # nothing listens there, as behind ECS_AWSVPC_BLOCK_IMDS


@dataclass(kw_only=True, slots=True)
class _Task:
    """Whose answers a path gives: the node, and the role of a task if it has one."""

    node: Node
    role: str
    arn: str
    tokens: set[str] = field(default_factory=set)


def _tasks() -> dict[str, _Task]:
    return region_state("jobs:metadata", region="aws", new=dict[str, _Task])


def is_metadata(path: str) -> bool:
    """Return whether a path of the server is one that a job was given."""
    return path.startswith(PREFIX) and path.removeprefix(PREFIX).partition("/")[0] in _tasks()


def variables(node: Node, container: Mapping[str, Any], *, own_interface: bool) -> dict[str, str]:
    """Return the variables of a container by which it finds both.

    Args:
        node: Its node.
        container: The container, with the ARN of its task and that of its role.
        own_interface: Whether it has a network interface of its own, so that ``ECS_AWSVPC_BLOCK_IMDS`` of the agent holds:
            https://docs.aws.amazon.com/AmazonECS/latest/developerguide/security-iam-roles.html (2026-11).
    """
    role = str(container.get("jobRoleArn") or "")
    secret = secrets.token_urlsafe(24)
    _tasks()[secret] = _Task(node=node, role=role, arn=container["taskArn"])
    place = f"{running().clients.endpoint}{PREFIX}{secret}/"
    found = {
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": _NOWHERE if own_interface and node.blocks_metadata else place,
        "AWS_EC2_METADATA_DISABLED": "false",
    }
    if role:  # https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html has it without a host
        found["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = f"{place}v2/credentials"
    return found


def answer(environ: Mapping[str, Any]) -> tuple[str, str]:
    """Return the status and the body for a request, as the instance metadata service does, or the agent of Amazon ECS for a task.

    Methods, headers and codes: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-v2-how-it-works.html and
    instancedata-data-retrieval.html (2026-11). A hop limit blocks no job here, because a job is a process of its node.
    """
    secret, _, path = environ["PATH_INFO"].removeprefix(PREFIX).partition("/")
    task, method = _tasks()[secret], environ["REQUEST_METHOD"]
    if path == "v2/credentials" and task.role:
        session = task.arn.rpartition("/")[2]
        return _credentials(task.role, session, {"RoleArn": task.role})
    instance = ec2_backends[ACCOUNT][task.node.region].get_instance_by_id(task.node.instance_id)
    options = instance.metadata_options
    if options.http_endpoint == "disabled" or (method == "PUT" and "HTTP_X_FORWARDED_FOR" in environ):
        return "403 Forbidden", ""
    if method == "PUT" and path == "latest/api/token":
        seconds = environ.get("HTTP_X_AWS_EC2_METADATA_TOKEN_TTL_SECONDS", "")
        if not seconds.isdigit() or not 1 <= int(seconds) <= 6 * 3600:
            return "400 Bad Request", ""
        token = secrets.token_urlsafe(40)
        task.tokens.add(token)
        return "200 OK", token
    given = environ.get("HTTP_X_AWS_EC2_METADATA_TOKEN")
    if given not in task.tokens and (given is not None or options.http_tokens == "required"):
        return "401 Unauthorized", ""
    return _metadata(task.node, path.removeprefix("latest/meta-data/"))


def _metadata(node: Node, name: str) -> tuple[str, str]:
    role = _role_of_profile(node.profile)
    plain = {"instance-id": node.instance_id, "placement/region": node.region}
    if role:
        plain |= dict.fromkeys(
            ("iam/security-credentials", "iam/security-credentials/"), role.rpartition("/")[2]
        )
        if name == f"iam/security-credentials/{role.rpartition('/')[2]}":
            return _credentials(role, node.instance_id, {"Code": "Success", "Type": "AWS-HMAC"})
    return ("200 OK", plain[name]) if name in plain else ("404 Not Found", "")


def _credentials(role: str, session: str, more: Mapping[str, str]) -> tuple[str, str]:
    try:
        return "200 OK", json.dumps({**more, **new_session(role, session)})
    except ValueError:  # the role was deleted
        return "404 Not Found", ""


def _role_of_profile(wanted: str) -> str:
    """Return the ARN of the role of an instance profile, given by ARN or name; empty if it has none."""
    for profile in iam_backends[ACCOUNT]["aws"].instance_profiles.values():
        if wanted in (profile.arn, profile.name) and profile.roles:
            return str(profile.roles[0].arn)
    return ""
