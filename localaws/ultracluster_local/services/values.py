"""Values that services refuse by rules that botocore's models lack: those of values.toml, and of filters of EC2 and bodies of S3 by kind."""

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from moto.s3.models import s3_backends

from ultracluster_local.instance.clients import service_model
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.batch.state import refused
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.model_constraints import violations

__all__ = ["install", "refuse_values"]


_FREE = frozenset({"options", "parameters", "tags"})
"""Maps whose keys are the caller's."""


def install() -> None:
    """Register the checks, after those of the modules of services."""
    for service, operation in _rules():
        Checks(service=service)(operation)(functools.partial(refuse_values, service))
    filtered = [one for one in _operations("ec2") if "Filters" in one.input_shape.members]
    Checks(service="ec2")(*(one.name for one in filtered))(_refuse_filter)
    paged = [one for one in _operations("ec2") if "MaxResults" in one.input_shape.members]
    Checks(service="ec2")(*(one.name for one in paged))(_refuse_page)
    told = [  # that of CreateBucket has an error of its own
        one
        for one in _operations("s3")
        if one.input_shape.serialization.get("payload") and not one.has_streaming_input
    ]
    Checks(service="s3")(*(one.name for one in told if one.name != "CreateBucket"))(_refuse_body)


def _operations(service: str) -> Iterator[Any]:
    model = service_model(service)
    return (
        one
        for one in map(model.operation_model, model.operation_names)
        if one.input_shape and not one.deprecated
    )


@functools.cache
def _rules() -> Mapping[tuple[str, str], list[tuple[str, str, list[Any]]]]:
    """Return conditions, paths and rules of values.toml by service and operation."""
    found: dict[tuple[str, str], list[tuple[str, str, list[Any]]]] = {}
    for service, table in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items():
        for place, row in table.items():
            operations, _, paths = place.partition(" ")
            operations, _, condition = operations.rstrip("]").partition("[")
            for operation in operations.split("|"):
                rules = [row] if isinstance(row[1], str) else row
                found.setdefault((service, operation), []).extend((condition, paths, one) for one in rules)
    return found


def refuse_values(service: str, request: Request) -> None:
    """Refuse values by the rules of values.toml.

    Args:
        service: Service name of boto3.
        request: API request.

    Raises:
        ServiceError: If a value breaks one.
    """
    for condition, paths, (test, code, words) in _rules()[service, request.operation]:
        if condition and not _holds(condition, request.parameters):
            continue
        values = [one for path in paths.split("|") for one in _values(request.parameters, path.split("."))]
        for value in _wrong(values, test):
            said = words.format(value, n=_size(value))
            raise ServiceError(code, said) if code else refused(said)


def _holds(condition: str, given: Mapping[str, Any]) -> bool:
    """Return whether a member has a value, as in ``type=managed``, or has none such, as in ``type!=managed``."""
    member, _, wanted = condition.partition("=")
    met = any(_passes(one, wanted) for one in _values(given, member.rstrip("!").split(".")))
    return met != member.endswith("!")


def _wrong(values: list[Any], test: str | list[float]) -> list[Any]:
    if test == "given":
        return [] if any(one or one is False for one in values) else [""]
    if test == "absent":
        return [one for one in values if one]
    if test == "ascending":
        return values if values != sorted(values) else []
    if test == "unique":
        return [one for place, one in enumerate(values) if one in values[:place]]
    return [one for one in values if not _passes(one, test)]


def _passes(value: Any, test: str | list[float]) -> bool:
    return (
        bool(re.fullmatch(test, str(value))) if isinstance(test, str) else test[0] <= _size(value) <= test[1]
    )


def _size(value: Any) -> float:
    return len(value) if isinstance(value, (str, list, dict)) else float(value)


def _values(given: Any, path: list[str]) -> Iterator[Any]:
    if isinstance(given, list):
        for one in given:
            yield from _values(one, path)
    elif not path:
        yield from () if given is None else (given,)
    elif path[0] == "**":
        yield from _values(given, path[1:])
        if isinstance(given, Mapping):
            for name, part in given.items():
                yield from () if name in _FREE else _values(part, path)
    elif isinstance(given, Mapping):
        found = given.get(path[0].rstrip("[]{}"))
        if path[0].endswith("{}"):
            found = sorted(found or ())
        yield from [found] if path[0].endswith("[]") and found is not None else _values(found, path[1:])


@functools.cache
def _filters(operation: str) -> frozenset[str]:
    """Return the names of filters that EC2's documentation of an operation has; what follows a prefix such as ``tag:`` is free."""
    told = service_model("ec2").operation_model(operation).input_shape.members["Filters"].documentation
    return frozenset(re.findall(r"<code>([a-z0-9][a-zA-Z0-9.:-]*)", told))


def _refuse_filter(request: Request) -> None:
    known = _filters(request.operation)
    for one in request.parameters.get("Filters") or []:
        name = str(one.get("Name"))
        if known and name not in known and name != "tag-key" and not name.startswith("tag:"):
            raise ServiceError("InvalidParameterValue", f"The filter '{name}' is invalid")


def _refuse_page(request: Request) -> None:
    """Refuse a size of a page that the model does not allow (aws/aws-sdk-ruby#2575)."""
    limits = (
        service_model("ec2").operation_model(request.operation).input_shape.members["MaxResults"].metadata
    )
    size, least, most = request.parameters.get("MaxResults"), limits.get("min"), limits.get("max")
    if size is not None and least is not None and size < least:
        raise ServiceError(
            "InvalidParameterValue",
            f"Value ( {size} ) for parameter maxResults is invalid. Expecting a value greater than {least}.",
        )
    if size is not None and most is not None and size > most:
        raise ServiceError(
            "InvalidParameterValue",
            f"Value ( {size} ) for parameter maxResults is invalid. Expecting a value smaller than or equal to {most}.",
        )


def _refuse_body(request: Request) -> None:
    """Refuse a body that lacks what the schema of S3 asks for, or has a word that it lacks: AmazonS3/latest/API/ErrorResponses.html."""
    shape = service_model("s3").operation_model(request.operation).input_shape
    name = shape.serialization["payload"]
    body = request.parameters.get(name) or {}
    if request.parameters["Bucket"] not in s3_backends[ACCOUNT]["aws"].buckets:
        return  # moto says so
    if _lacks(shape.members[name], body) or any(
        "enum value set" in one for one in violations(shape.members[name], body)
    ):
        problem = "The XML you provided was not well-formed or did not validate against our published schema"
        raise ServiceError("MalformedXML", problem)


def _lacks(shape: Any, value: Any) -> bool:
    """Return whether a part of a body has less than its shape requires."""
    if shape.type_name == "list":
        return any(_lacks(shape.member, one) for one in value or [])
    if shape.type_name != "structure" or not isinstance(value, Mapping):
        return False
    return not set(shape.required_members) <= value.keys() or any(
        _lacks(shape.members[name], part) for name, part in value.items() if name in shape.members
    )
