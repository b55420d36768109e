"""Reject numbers that jsii cannot carry.

A NaN or an infinity terminates the jsii process, and an integer of 2^53 or more loses precision on the way. Arguments
and fields that are annotated as int or float are therefore checked in Python first.
"""

import inspect
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from typing import Any, Final, ParamSpec, TypeVar, Union, get_args, get_origin

from ultracluster_rules.findings import Finding, FindingsError, quote

_LIMIT: Final = 2**53  # JSON, and therefore CloudFormation and jsii, carry smaller integers exactly

# The CDK encodes number tokens as doubles below this. Asking the CDK instead would be a jsii call, which fails for NaN.
_LARGEST_TOKEN: Final = -1.8881545897087e289

_WHOLE: Final = "a whole number"
_FINITE: Final = "a finite number"

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def rejects_unsafe_numbers(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Make a function reject numbers that jsii cannot carry before its body runs.

    Args:
        function: Function or constructor whose annotations say which arguments are numbers.

    Returns:
        A wrapper that raises FindingsError (UC1030) with all such arguments.
    """
    numbers = _kinds(inspect.get_annotations(function))

    @wraps(function)
    def checked(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        if findings := _find({name: kwargs[name] for name in numbers if name in kwargs}, numbers):
            raise FindingsError(findings)
        return function(*args, **kwargs)

    return checked


def reject_unsafe_numbers(values: Any) -> None:
    """Reject a dataclass instance with fields that jsii cannot carry.

    Args:
        values: Instance of a dataclass whose annotations tell which fields are numbers.

    Raises:
        FindingsError: UC1030 for each such field.
    """
    if findings := find_unsafe_numbers(values):
        raise FindingsError(findings)


def find_unsafe_numbers(values: Any) -> list[Finding]:
    """Return the fields of a dataclass instance that jsii cannot carry.

    Args:
        values: Instance of a dataclass whose annotations tell which fields are numbers.

    Returns:
        UC1030 for each such field.
    """
    numbers = _kinds_of_fields(values.__class__)
    return _find({name: getattr(values, name) for name in numbers}, numbers)


@cache
def _kinds_of_fields(definition: type) -> Mapping[str, str]:
    return {
        name: kind
        for base in reversed(definition.__mro__)
        for name, kind in _kinds(inspect.get_annotations(base)).items()
    }


def _kinds(annotations: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: kind
        for name, annotation in annotations.items()
        if name != "return" and (kind := _kind(annotation))
    }


def _kind(annotation: Any) -> str | None:
    """Return the kind of number that an annotation contains, also as items or values."""
    if annotation is int:
        return _WHOLE
    if annotation is float:
        return _FINITE
    parts = get_args(annotation)
    if get_origin(annotation) in {types.UnionType, Union, Sequence, Mapping}:
        return next((kind for part in parts if (kind := _kind(part))), None)
    return None


def _find(values: Mapping[str, Any], kinds: Mapping[str, str]) -> list[Finding]:
    return [
        Finding(
            code="UC1030",
            problem=f"got {quote(number)}",
            allowed=f"{kinds[name]} between -2^53 and 2^53",
            path=path,
        )
        for name, value in values.items()
        for path, number in _flatten(name, value)
        if number is not None and not _is_safe(number, kinds[name])
    ]


def _flatten(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f"{name}.{key}", item) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(value))
    else:
        yield name, value


def _is_safe(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) < _LIMIT
    if not isinstance(value, float) or not math.isfinite(value):
        return False
    return value <= _LARGEST_TOKEN or (kind == _FINITE and abs(value) < _LIMIT)
