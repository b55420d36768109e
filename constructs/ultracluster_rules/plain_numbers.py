"""Numbers that users give, before jsii sees them.

One NaN or infinity ends jsii's process for the rest of the program, and a whole number beyond 2^53 arrives as another
one. So what an annotation calls an int or a float is looked at first, in plain Python.
"""

import inspect
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from typing import Any, Final, ParamSpec, TypeVar, Union, get_args, get_origin

from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["refuse_other_numbers", "takes_plain_numbers"]

_LIMIT: Final = (
    2**53
)  # the last whole number that JSON, and so CloudFormation and jsii, carry without changing it

# The CDK writes an unresolved number as a double below this, and asking it is a call of jsii, which NaN would end.
_LARGEST_TOKEN: Final = -1.8881545897087e289

_WHOLE: Final = "a whole number"
_FINITE: Final = "a finite number"

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def takes_plain_numbers(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Make a function refuse numbers that jsii cannot carry, before it does anything else.

    Args:
        function: A function, such as a constructor, whose annotations say which arguments are numbers.

    Returns:
        The function; it raises FindingsError (UC1030) with all such arguments.
    """
    numbers = _kinds(inspect.get_annotations(function))

    @wraps(function)
    def checked(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        _refuse({name: kwargs[name] for name in numbers if name in kwargs}, numbers)
        return function(*args, **kwargs)

    return checked


def refuse_other_numbers(values: Any) -> None:
    """Refuse numbers that jsii cannot carry among the fields of a dataclass.

    Args:
        values: An instance of a dataclass whose annotations say which fields are numbers.

    Raises:
        FindingsError: UC1030 for each of them.
    """
    numbers = _kinds_of_fields(values.__class__)
    _refuse({name: getattr(values, name) for name in numbers}, numbers)


@cache
def _kinds_of_fields(definition: type) -> Mapping[str, str]:
    return {
        name: kind
        for each in reversed(definition.__mro__)
        for name, kind in _kinds(inspect.get_annotations(each)).items()
    }


def _kinds(annotations: Mapping[str, Any]) -> dict[str, str]:
    return {name: kind for name, each in annotations.items() if name != "return" and (kind := _kind(each))}


def _kind(annotation: Any) -> str | None:
    """The kind of number, for an argument that is one, may be one, or has numbers as items or values."""
    if annotation is int:
        return _WHOLE
    if annotation is float:
        return _FINITE
    parts = get_args(annotation)
    if get_origin(annotation) in {types.UnionType, Union, Sequence, Mapping}:
        return next((kind for part in parts if (kind := _kind(part))), None)
    return None


def _refuse(values: Mapping[str, Any], kinds: Mapping[str, str]) -> None:
    findings = [
        Finding(
            code="UC1030",
            problem=f"got {quote(number)}",
            allowed=f"{kinds[name]} between -2^53 and 2^53",
            path=path,
        )
        for name, value in values.items()
        for path, number in _each(name, value)
        if number is not None and not _is_plain(number, kinds[name])
    ]
    if findings:
        raise FindingsError(findings)


def _each(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f"{name}.{key}", each) for key, each in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"{name}[{index}]", each) for index, each in enumerate(value))
    else:
        yield name, value


def _is_plain(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) < _LIMIT
    if not isinstance(value, float) or not math.isfinite(value):
        return False
    return value <= _LARGEST_TOKEN or (kind == _FINITE and abs(value) < _LIMIT)
