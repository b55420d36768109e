"""Build models and values from only the readable fields, so that rules across fields can still check them."""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter

from ultracluster_spec.values import Value, incomplete, is_unset
from ultracluster_stacks.config.reading.fields import Part, is_part, part_fields
from ultracluster_stacks.config.reading.problem import Loc, Problem

_Model = TypeVar("_Model", bound=BaseModel)


def partial_model(model: type[_Model], values: Any, unread: Collection[Loc]) -> _Model:
    """Build a model without its unreadable fields; accessing one of them raises AttributeError."""
    around = {place[:length] for place in unread for length in range(len(place))}
    return _build(model, values, (), frozenset(unread), around)  # type: ignore[no-any-return]


def _build(model: Part, values: Any, loc: Loc, unread: Collection[Loc], around: Collection[Loc]) -> Any:
    read: dict[str, Any] = {}
    for name, field in part_fields(model).items() if isinstance(values, dict) else ():
        at = (*loc, name)
        part = part_model(field.annotation)
        if at in unread or (part is None and at in around):
            continue
        if name not in values:
            if field.default is not None:
                read[name] = field.default()
        elif part is None or values[name] is None:
            read[name] = _adapter(field.annotation).validate_python(values[name])
        elif isinstance(values[name], dict):
            read[name] = _build(part, values[name], at, unread, around)
        else:  # a list keeps its length, so that indexes stay valid
            read[name] = tuple(
                _build(part, item, (*at, index), unread, around) for index, item in enumerate(values[name])
            )
    if issubclass(model, Value):
        return incomplete(model, read)
    built = model.model_construct(**read)
    for name in model.model_fields.keys() - read.keys():
        built.__dict__.pop(name, None)  # model_construct sets defaults
    return built


def readable_part(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield problems until a rule needs an unreadable field; AttributeError for one that is no field, which is a bug."""
    try:
        yield from problems
    except AttributeError as error:
        if not is_unset(error):
            raise


def part_model(annotation: Any) -> Part | None:
    """Return the model or value of a field, of an optional field, or of the items of a tuple."""
    if is_part(annotation):
        return annotation
    if get_origin(annotation) is Annotated:
        return part_model(get_args(annotation)[0])
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        parts = [part_model(part) for part in get_args(annotation)]
        return next((part for part in parts if part is not None), None)
    if get_origin(annotation) is tuple:
        return part_model(get_args(annotation)[0])
    return None


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation, config={"strict": True})
