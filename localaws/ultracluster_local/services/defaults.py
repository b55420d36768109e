"""Defaults and words of AWS's answers where moto has others: states of what was just made, settings that nobody gave, and what is absent.

The sources are acceptance tests of hashicorp/terraform-provider-aws and snapshots of AWS's answers in localstack/localstack, as the
cases of tests/field/rounds name them (2026-11).
"""

import contextlib
import copy
import functools
import ipaddress
import json
import re
import uuid
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from moto.cloudwatch.models import Alarm
from moto.core.responses import ActionResult, BaseResponse
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler
from moto.ec2.models.route_tables import RouteTable
from moto.ec2.models.vpcs import VPCBackend
from moto.iam.exceptions import NotFoundException
from moto.iam.models import ManagedPolicy, Role
from moto.iam.responses import IamResponse
from moto.scheduler.models import Schedule

from ultracluster_local.services.kms import find_key

__all__ = ["install"]


def install() -> None:
    """Change moto's models and answers."""
    RouteTable.propagating_vgws = []
    ManagedPolicy.permissions_boundary_usage_count = 0
    _after(Alarm, lambda alarm: setattr(alarm, "state_value", "INSUFFICIENT_DATA"))
    _after(
        Schedule, lambda one: setattr(one, "action_after_completion", one.action_after_completion or "NONE")
    )
    VPCBackend.create_vpc = _in_canonical_form(VPCBackend.create_vpc)
    _first(NotFoundException, _absent)
    IamResponse.create_role = _creating_role(IamResponse.create_role)
    IamResponse.list_roles = _listing_roles(IamResponse.list_roles)
    Table.describe = _identified(Table.describe)
    DynamoHandler.create_table = _creating(DynamoHandler.create_table)
    BaseResponse.call_action = _answering(BaseResponse.call_action)


def _after(model: type, change: Callable[[Any], None]) -> None:
    original = model.__init__  # type: ignore[misc]  # of moto's models

    @functools.wraps(original)
    def make(made: Any, *given: Any, **named: Any) -> None:
        original(made, *given, **named)
        change(made)

    model.__init__ = make  # type: ignore[misc]


def _first(model: type, change: Callable[[str], str]) -> None:
    original = model.__init__  # type: ignore[misc]

    @functools.wraps(original)
    def make(made: Any, message: str, *given: Any) -> None:
        original(made, change(message), *given)

    model.__init__ = make  # type: ignore[misc]


def _in_canonical_form(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def create_vpc(backend: Any, cidr_block: str, *given: Any, **named: Any) -> Any:
        with contextlib.suppress(ValueError):  # API_CreateVpc, CidrBlock; moto refuses the others
            cidr_block = str(ipaddress.ip_network(cidr_block, strict=False))
        return original(backend, cidr_block, *given, **named)

    return create_vpc


def _absent(message: str) -> str:
    """Say of what IAM does not have what AWS says: DataBiosphere/toil#4836, prowler-cloud/prowler#2872."""
    if found := re.fullmatch(r"(Role|Group|User) (\S+) not found", message):
        return f"The {found[1].lower()} with name {found[2].rsplit('/', 1)[-1]} cannot be found."
    if found := re.fullmatch(r"Policy Document (\S+) not attached to (role|group|user) \S+", message):
        return f"The {found[2]} policy with name {found[1]} cannot be found."
    return re.sub(r"^Instance profile (\S+) not found$", r"Instance Profile \1 cannot be found.", message)


class _New(Role):  # type: ignore[misc]  # moto has no types
    """A role as CreateRole and ListRoles show it."""

    role_last_used = None


def _shown_as_new(role: Any, *, duration: Any) -> Any:
    shown = copy.copy(role)
    shown.__class__, shown.max_session_duration = _New, duration
    return shown


def _creating_role(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def create_role(response: Any) -> Any:
        return ActionResult({"Role": _shown_as_new(original(response).result["Role"], duration=None)})

    return create_role


def _listing_roles(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def list_roles(response: Any) -> Any:
        found = original(response).result
        roles = [_shown_as_new(one, duration=one.max_session_duration) for one in found["Roles"]]
        return ActionResult({**found, "Roles": roles})

    return list_roles


def _identified(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def describe(table: Any, *given: Any, **named: Any) -> Any:
        own = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{table.table_arn} {table.created_at}"))
        return {name: {"TableId": own, **shown} for name, shown in original(table, *given, **named).items()}

    return describe


def _creating(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def create_table(response: Any) -> Any:
        table = original(response).result["TableDescription"]
        return ActionResult({"TableDescription": {**table, "TableStatus": "CREATING"}})

    return create_table


_CREATING = {
    "State": "Pending",
    "StateReason": "The function is being created.",
    "StateReasonCode": "Creating",
}
_IN_PROGRESS = {"LastUpdateStatus": "InProgress"}
_ADDED = {
    ("lambda", "CreateFunction"): _CREATING,
    ("lambda", "UpdateFunctionConfiguration"): _IN_PROGRESS,
    ("lambda", "UpdateFunctionCode"): _IN_PROGRESS,
    ("kms", "ScheduleKeyDeletion"): {"KeyState": "PendingDeletion"},
    ("kms", "CancelKeyDeletion"): {},
}


def _answering(call_action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(call_action)
    def answer(response: Any) -> Any:
        status, headers, body = call_action(response)
        service = response.boto3_service_name
        added = _ADDED.get((service, response._get_action()))  # noqa: SLF001 - moto has no public name for it
        if added is None or int(headers.get("status", status)) >= HTTPStatus.MULTIPLE_CHOICES or not body:
            return status, headers, body
        shown = {**json.loads(body), **added}
        if added is _CREATING:
            shown.pop("LastUpdateStatus", None)
        if service == "kms":  # API_ScheduleKeyDeletion, KeyId: the ARN
            shown["KeyId"] = getattr(find_key(shown["KeyId"], response.region), "arn", shown["KeyId"])
            if added:
                shown["PendingWindowInDays"] = response._get_param("PendingWindowInDays") or 30  # noqa: SLF001 - likewise
        return status, headers, json.dumps(shown)

    return answer
