"""Build values from only the readable fields, so that rules across fields can still check them."""

from collections.abc import Collection
from dataclasses import MISSING
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import TypeAdapter

from ultracluster_spec.values import Value, annotations, default_of, incomplete
from ultracluster_stacks.config.reading.problem import Loc

_Part = TypeVar("_Part", bound=Value)


def partial_value(part: type[_Part], values: Any, unread: Collection[Loc]) -> _Part:
    """Build a value without its unreadable fields; accessing one of them raises AttributeError."""
    around = {place[:length] for place in unread for length in range(len(place))}
    return _build_readable(part, values, (), frozenset(unread), around)


def _build_readable(
    part: type[_Part], values: Any, loc: Loc, unread: Collection[Loc], around: Collection[Loc]
) -> _Part:
    read: dict[str, Any] = {}
    for name, annotation in annotations(part).items() if isinstance(values, dict) else ():
        at = (*loc, name)
        inner = part_of(annotation)
        if at in unread or (inner is None and at in around):
            continue
        if name not in values:
            if (default := default_of(part, name)) is not MISSING:
                read[name] = default
        elif inner is None or values[name] is None or isinstance(values[name], str):
            read[name] = _adapter(annotation).validate_python(values[name])
        elif isinstance(values[name], dict):
            read[name] = _build_readable(inner, values[name], at, unread, around)
        else:  # a list keeps its length, so that indexes stay valid
            read[name] = tuple(
                _build_readable(inner, item, (*at, index), unread, around)
                for index, item in enumerate(values[name])
            )
    return incomplete(part, read)


def part_of(annotation: Any) -> type[Value] | None:
    """Return the value of a field, of an optional field, or of the items of a tuple."""
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return annotation
    if get_origin(annotation) is Annotated:
        return part_of(get_args(annotation)[0])
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        parts = [part_of(part) for part in get_args(annotation)]
        return next((part for part in parts if part is not None), None)
    if get_origin(annotation) is tuple:
        return part_of(get_args(annotation)[0])
    return None


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation, config={"strict": True})
