"""Members that moto and our handlers do not use: kept and shown again, or refused by name; and members that moto does not answer.

members.toml lists the former by service and operation, and the latter by service and structure.
"""

import functools
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from moto.core.responses import BaseResponse
from moto.core.serialize import QuerySerializer, ResponseSerializer

from ultracluster_local.instance.clients import service_model
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.checks import Checks, given_parameters
from ultracluster_local.services.ec2.capacity import refuse_dry_run
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.replacing import instead_of

__all__ = ["MEMBERS", "UNSUPPORTED", "install"]

MEMBERS: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

UNSUPPORTED: Final = "UnsupportedOperation"
"""The code of a refused member: that of EC2 for what it does not support."""

_OWN_DRY_RUNS = re.compile(r"Capacity|RunInstances")
"""Operations whose handlers check a request before they say that it would have succeeded."""


def install() -> None:
    """Refuse members after the checks of their services; keep others, and show them with their resource."""
    for service, kinds in MEMBERS.items():
        for operation, groups in kinds.get("exclusive", {}).items():
            refuse = functools.partial(
                _refuse_together, groups=[one.split() for one in groups], service=service
            )
            Checks(service=service)(operation)(refuse)
        for operation, paths in kinds.get("refused", {}).items():
            refuse = functools.partial(_refuse_unused, paths=tuple(paths.split()))
            Checks(service=service)(operation)(refuse)
    checked = (one for one in _takes("ec2", "DryRun") if not _OWN_DRY_RUNS.search(one))
    Checks(service="ec2")(*checked)(refuse_dry_run)
    Checks(service="kms")(*_takes("kms", "DryRun"))(_end_dry_run)
    Checks(service="s3")(*_takes("s3", "ExpectedBucketOwner"))(_refuse_other_owner)
    BaseResponse.call_action = _keeping(BaseResponse.call_action)


_EXCLUSIVE: Final[Mapping[str, tuple[str, str]]] = {
    # machulav/ec2-github-runner#168
    "ec2": ("InvalidParameterCombination", "The parameter {} cannot be used with the parameter {}"),
    # k1LoW/awspec#563
    "batch": ("ClientException", "Error executing request, Exception : {} and {} cannot both be set"),
    # boto/boto#2781
    "cloudformation": ("ValidationError", "Either {} or {} can be specified, not both."),
    "cloudwatch": ("InvalidParameterCombination", "Either {} or {} can be specified, not both."),
    "autoscaling": ("ValidationError", "You cannot specify both {} and {} in the same request."),
    "logs": ("InvalidParameterException", "You must include either {} or {}, but not both."),
    "kms": ("ValidationException", "Please specify either {} or {}, but not both."),
}
"""Code and words with which a service refuses two members; without a source, those of its API reference."""


def _refuse_together(request: Request, *, groups: list[list[str]], service: str) -> None:
    code, words = _EXCLUSIVE[service]
    for group in groups:
        first, *rest = [one for one in group if request.parameters.get(one) is not None] or [""]
        if rest:
            raise ServiceError(code, words.format(first, rest[0]))


def _refuse_unused(request: Request, *, paths: tuple[str, ...]) -> None:
    for path in paths:
        if _asks(request.parameters, path.split(".")):
            raise ServiceError(
                UNSUPPORTED,
                f"The local AWS does not simulate {path} of {request.operation}; see `ultracluster docs local-aws`.",
            )


def _asks(value: Any, path: list[str]) -> bool:
    """Return whether a value at `path` asks for anything: false, zero and empty ones do not."""
    if isinstance(value, list):
        return any(_asks(one, path) for one in value)
    if not path:
        return bool(value)
    return isinstance(value, Mapping) and _asks(value.get(path[0]), path[1:])


def _refuse_other_owner(request: Request) -> None:
    """Refuse a bucket that the caller expects in another account: AmazonS3/latest/userguide/bucket-owner-condition."""
    owner = request.parameters.get("ExpectedBucketOwner", ACCOUNT)
    if not re.fullmatch(r"\d{12}", owner):  # localstack/localstack, test_s3.snapshot.json
        problem = f"The value of the expected bucket owner parameter must be an AWS Account ID... [{owner}]"
        raise ServiceError("InvalidBucketOwnerAWSAccountID", problem)
    if owner != ACCOUNT:
        raise ServiceError("AccessDenied", "Access Denied")


def _end_dry_run(request: Request) -> None:
    """End a dry run of KMS: https://docs.aws.amazon.com/kms/latest/developerguide/testing-permissions.html (2026-11)."""
    if request.parameters.get("DryRun"):
        problem = "The request would have succeeded, but the DryRun option is set."
        raise ServiceError("DryRunOperationException", problem)


def _takes(service: str, member: str) -> list[str]:
    model = service_model(service)
    operations = map(model.operation_model, model.operation_names)
    # A deprecated operation of S3 has the path of its successor.
    return [
        one.name
        for one in operations
        if not one.deprecated and one.input_shape and member in one.input_shape.members
    ]


_AS_TEXT: Final = frozenset({"budgets", "events", "kms", "lambda", "logs"})
"""Services whose answers moto writes without a model."""


def _keeping(call_action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(call_action)
    def answer(response: Any) -> Any:
        service = response.boto3_service_name
        kinds = MEMBERS.get(service, {})
        status, headers, body = call_action(response)
        operation = response._get_action()  # noqa: SLF001 - moto has no public name for it
        model = service_model(service)
        failed = int(headers.get("status", status)) >= HTTPStatus.MULTIPLE_CHOICES
        plain = "kept" not in kinds and service not in _AS_TEXT
        if plain or failed or operation not in model.operation_names:
            return status, headers, body
        shape = model.operation_model(operation).output_shape
        shown = json.loads(body) if shape is not None and body else None
        if "kept" in kinds:
            given = given_parameters(response, operation)
            _keep_and_show(kinds["kept"], operation, given, shape, shown, region=response.region)
        if shown is None:
            return status, headers, body
        if service in _AS_TEXT:
            _complete(service, operation, shape, shown)
        return status, headers, json.dumps(shown)

    return answer


def _keep_and_show(
    table: Mapping[str, Any], operation: str, given: Mapping[str, Any], shape: Any, shown: Any, *, region: str
) -> None:
    kept: dict[str, dict[str, Any]] = region_state(f"members:{table['identity']}", region=region, new=dict)
    name = _name(given.get(table["identity"]))
    if operation in table and operation.startswith("Create"):
        kept[name] = {}
    for member, path in table.get(operation, {}).items():
        if given.get(member) is not None:
            kept.setdefault(name, {})[path] = given[member]
    if kept and shown is not None:
        _show(shape, shown, table["identity"], kept, name)


def _complete(service: str, operation: str, shape: Any, shown: Any) -> None:
    """Change the members of each description in an answer to what AWS answers."""
    if shape.type_name == "list" and isinstance(shown, list):
        for one in shown:
            _complete(service, operation, shape.member, one)
    elif shape.type_name == "structure" and isinstance(shown, dict) and shown:
        for member, part in shape.members.items():
            found = _answered(service, operation, shape.name, member, shown.get(member))
            if found is None:
                shown.pop(member, None)
            else:
                shown[member] = found
                _complete(service, operation, part, found)


@functools.cache
def _rows(service: str, operation: str) -> Mapping[tuple[str, str], Any]:
    """Return what members of structures have: a default in a list, nothing for a hidden one, or the only value in an operation."""
    kinds = MEMBERS.get(service, {})
    defaults, fixed = kinds.get("defaults", {}), kinds.get("fixed", {}).get(operation, {})
    hidden = {(name, one) for name, words in kinds.get("hidden", {}).items() for one in words.split()}
    return {
        **{(name, key): [value] for name, given in defaults.items() for key, value in given.items()},
        **{(name, one.rstrip("?")): "?" if "?" in one else "-" for name, one in hidden},
        **{(name, key): value for name, given in fixed.items() for key, value in given.items()},
    }


def _answered(service: str, operation: str, structure: str, member: str, found: Any) -> Any:
    rows = _rows(service, operation)
    if (structure, member) not in rows:
        return found
    match rows[structure, member]:
        case [default]:
            return default if found is None else found
        case "?":
            return None if not found or found == "{}" else found
        case "-":
            return None
        case value:
            return value


@instead_of(ResponseSerializer, "get_value")
def _value(original: Any, serializer: Any, value: Any, key: str, shape: Any) -> Any:
    """Return what a member of a structure is answered with: a default for one that is left out, nothing for a hidden one."""
    if isinstance(value, Exception) and isinstance(serializer, QuerySerializer) and key == "message":
        return None  # it is said as Message
    found = original(serializer, value, key, shape)
    if isinstance(value, Exception):
        return "User" if key == "Type" and found is None else found
    operation = serializer.operation_model
    name = getattr(shape, "parent", shape).name
    return _answered(operation.service_model.service_name, operation.name, name, key, found)


def _name(identity: Any) -> str:
    """Return the name in an ARN, or a name as it is."""
    return re.sub(r"^arn:(?:[^:]*:){4}[a-z-]+[:/]", "", str(identity)).split(":")[0]


def _show(
    shape: Any, shown: Any, identity: str, kept: Mapping[str, Mapping[str, Any]], name: str = ""
) -> None:
    """Add what was kept to each description of its resource in an answer."""
    if shape.type_name == "list" and isinstance(shown, list):
        for one in shown:
            _show(shape.member, one, identity, kept)
    elif shape.type_name == "structure" and isinstance(shown, dict):
        for path, value in kept.get(_name(shown.get(identity, name)), {}).items():
            outer, _, inner = path.partition(".")
            if outer in shape.members:
                part = {inner: value} if inner else value
                kept_beside = shown.get(outer) if isinstance(part, dict) else None
                shown[outer] = {**kept_beside, **part} if isinstance(kept_beside, dict) else part
        for member, part in shown.items():
            if member in shape.members:
                _show(shape.members[member], part, identity, kept)
