"""Constraints of the service models: enumerations, lengths, ranges and patterns, refused with AWS's messages.

AWS's services check requests against the same models before anything else; botocore has them, but checks little on the
client, and moto checks nothing. The form of the message is that of all services built on them, for example
https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html ("1 validation error detected: Value ... failed to
satisfy constraint: ...").
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.handlers import ServiceError, parsed_parameters

__all__ = ["in_case_of_model", "model_refusal", "violations"]

_CODES = dict.fromkeys(("budgets", "ecr", "logs"), "InvalidParameterException")
"""Error codes of services that have one of their own; others answer ``ValidationException``, query services ``ValidationError``."""

_IN_ANY_CASE = frozenset({"batch"})
"""Services that take the values of enumerations in any case, as AWS Batch takes ``managed`` of aws-cdk-lib's constructs.

The provider of Terraform compares them likewise (internal/service/batch: ValidateIgnoreCase and ToUpperSchemaStateFunc).
"""

_OWN_CHECKS = frozenset({"ec2", "s3", "s3control", "sns", "sqs"})
"""Services that check requests with messages of their own."""

_NUMBERS = frozenset({"integer", "long", "float", "double"})
_SCALARS = _NUMBERS | {"string", "boolean", "timestamp", "blob"}

_NOT_ENFORCED = re.compile(r"\.metricNamespace' failed to satisfy constraint: Member must satisfy regular")
"""What a model says and its service takes: a namespace with a colon in localstack/localstack, logs/test_logs_metric_filters.snapshot.json."""

_RUNTIME_CODE = "InvalidParameterValueException"


def model_refusal(response: Any, service: str, action: str) -> ServiceError | None:
    """Return the error for a request to moto's `response` that violates the model of its service; None for others."""
    if service in _OWN_CHECKS:
        return None
    model = service_model(service)
    if action not in model.operation_names:
        return None
    shape = model.operation_model(action).input_shape
    if shape is None or not shape.members:
        return None
    given = parsed_parameters(response)
    if service in _IN_ANY_CASE:
        given = in_case_of_model(shape, given)
    said = [one for one in violations(shape, given) if not _NOT_ENFORCED.search(one)]
    if not said:
        return None
    return _worded(service, model.protocol, said)


def _worded(service: str, protocol: str, said: list[str]) -> ServiceError:
    if service == "lambda" and said[0].endswith("]") and "at 'runtime'" in said[0]:
        return ServiceError(_RUNTIME_CODE, f"{said[0]} or be a valid ARN")
    if service == "iam" and "at 'path'" in said[0]:  # aws-cloudformation/cfn-lint#722
        words = "It must begin and end with / and contain only alphanumeric characters and/or / characters."
        return ServiceError("ValidationError", f"The specified value for path is invalid. {words}")
    if service == "logs":  # which leaves out values that break a pattern: getmoto/moto, test_logs.py
        said = [re.sub(r"^Value '.*' (?=at .* regular)", "Value ", one, flags=re.DOTALL) for one in said]
    code = _CODES.get(service) or ("ValidationError" if protocol == "query" else "ValidationException")
    errors = "1 validation error" if len(said) == 1 else f"{len(said)} validation errors"
    return ServiceError(code, f"{errors} detected: {'; '.join(said)}")


def violations(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    """Return the violations of `shape` by `value`, with AWS's messages.

    Args:
        shape: Shape of botocore.
        value: Value of a request.
        path: Where it is, such as ``tags.1.member.key``.
    """
    kind = shape.type_name
    if kind == "structure":
        if isinstance(value, Mapping):
            for name, part in value.items():
                if name in shape.members and part is not None:
                    yield from violations(
                        shape.members[name], part, _joined(path, name[0].lower() + name[1:])
                    )
        return
    for constraint in _violated(shape, value):
        # AWS does not repeat what it was told to encrypt: getmoto/moto, test_kms_encrypt.py, verified against AWS.
        shown = "" if isinstance(value, bytes) else f" '{_text(value)}'"
        yield f"Value{shown} at '{path}' failed to satisfy constraint: Member must {constraint}"
    yield from _of_members(shape, value, path)


def _of_members(shape: Any, value: Any, path: str) -> Iterator[str]:
    if shape.type_name == "list" and isinstance(value, list):
        if shape.member.type_name in _SCALARS:
            yield from _together("Member", shape.member, value, shown=value, path=path)
        else:
            for number, part in enumerate(value, start=1):
                yield from violations(shape.member, part, f"{path}.{number}.member")
    elif shape.type_name == "map" and isinstance(value, Mapping):
        yield from _together("Map keys", shape.key, value, shown=value, path=path)
        yield from _together("Map value", shape.value, value.values(), shown=value, path=path)
        for key, part in value.items() if shape.value.type_name not in _SCALARS else ():
            yield from violations(shape.value, part, f"{path}.{key}.member")


def _together(what: str, shape: Any, parts: Iterable[Any], *, shown: Any, path: str) -> Iterator[str]:
    """Return the violation of members, keys or values of a collection, with all constraints that they have.

    ECR answered so to aws-actions/amazon-ecr-login (README.md), Lambda to localstack/localstack, test_lambda_api.snapshot.json (2026-01).
    """
    if any(True for part in parts for _ in _violated(shape, part)):
        told = ", ".join(f"Member must {words}" for words, _ in _constraints(shape))
        yield f"Value '{_text(shown)}' at '{path}' failed to satisfy constraint: {what} must satisfy constraint: [{told}]"


def in_case_of_model(shape: Any, value: Any) -> Any:
    """Return a copy of `value` whose values of enumerations are written as in the model.

    Args:
        shape: Shape of botocore.
        value: Value of a request.
    """
    if shape.type_name == "structure" and isinstance(value, Mapping):
        return {
            name: in_case_of_model(shape.members[name], part) if name in shape.members else part
            for name, part in value.items()
        }
    if shape.type_name == "list" and isinstance(value, list):
        return [in_case_of_model(shape.member, part) for part in value]
    if shape.type_name == "map" and isinstance(value, Mapping):
        return {key: in_case_of_model(shape.value, part) for key, part in value.items()}
    written = {one.lower(): one for one in shape.metadata.get("enum") or ()}
    return written.get(value.lower(), value) if isinstance(value, str) else value


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}={_text(part)}' for key, part in value.items())}}}"
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _violated(shape: Any, value: Any) -> Iterator[str]:
    return (words for words, holds in _constraints(shape) if not holds(value))


def _constraints(shape: Any) -> Iterator[tuple[str, Callable[[Any], bool]]]:
    """Return the constraints of a shape in AWS's words, and whether a value satisfies each; one of another type does."""
    measure = "value" if shape.type_name in _NUMBERS else "length"
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    known, pattern = shape.metadata.get("enum"), shape.metadata.get("pattern")
    if most is not None:
        yield (
            f"have {measure} less than or equal to {most}",
            lambda value: (size := _size(shape, value)) is None or size <= most,
        )
    # Empty tags are no tags: the clients of other tools send them to AWS Batch.
    if least is not None and shape.type_name != "map":
        yield (
            f"have {measure} greater than or equal to {least}",
            lambda value: (size := _size(shape, value)) is None or size >= least,
        )
    if known:
        words = f"satisfy enum value set: [{', '.join(known)}]"
        yield words, lambda value: not isinstance(value, str) or value in known
    if pattern:
        compiled = _compiled(pattern)
        yield (
            f"satisfy regular expression pattern: {pattern}",
            lambda value: not (isinstance(value, str) and compiled) or bool(compiled.fullmatch(value)),
        )


def _size(shape: Any, value: Any) -> Any:
    if shape.type_name in _NUMBERS:
        return value if isinstance(value, (int, float)) else None
    return len(value) if hasattr(value, "__len__") else None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Compile a Java pattern of a model; None if Python does not support it."""
    try:
        return re.compile(pattern)
    except re.error:
        return None
