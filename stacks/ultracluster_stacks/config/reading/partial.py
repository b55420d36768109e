"""Build models from only the readable fields, so that rules across fields can still check them."""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, TypeAdapter

from ultracluster_stacks.config.reading.problem import Loc, Problem

_Model = TypeVar("_Model", bound=BaseModel)


def partial_model(model: type[_Model], values: Any, unread: Collection[Loc]) -> _Model:
    """Build a model without its unreadable fields; accessing one of them raises AttributeError."""
    around = {place[:length] for place in unread for length in range(len(place))}
    return _build(model, values, (), frozenset(unread), around)


def _build(
    model: type[_Model], values: Any, loc: Loc, unread: Collection[Loc], around: Collection[Loc]
) -> _Model:
    read: dict[str, Any] = {}
    for name, info in model.model_fields.items() if isinstance(values, dict) else ():
        at = (*loc, name)
        part = part_model(info.annotation)
        if at in unread or (part is None and at in around):
            continue
        if name not in values:
            if not info.is_required():
                read[name] = info.get_default(call_default_factory=True)
        elif part is None or values[name] is None:
            read[name] = _field_adapter(model, name).validate_python(values[name])
        elif isinstance(values[name], dict):
            read[name] = _build(part, values[name], at, unread, around)
        else:  # a list keeps its length, so that indexes stay valid
            read[name] = tuple(
                _build(part, item, (*at, index), unread, around) for index, item in enumerate(values[name])
            )
    built = model.model_construct(**read)
    for name in model.model_fields.keys() - read.keys():
        built.__dict__.pop(name, None)  # model_construct sets defaults
    return built


def readable_part(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield problems until a rule needs an unreadable field; AttributeError for one that is no field, which is a bug."""
    try:
        yield from problems
    except AttributeError as error:
        if not isinstance(error.obj, BaseModel) or error.name not in type(error.obj).model_fields:
            raise


def part_model(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a field, of an optional field, or of the items of a tuple."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if isinstance(annotation, UnionType):
        return next(filter(None, map(part_model, get_args(annotation))), None)
    if get_origin(annotation) is tuple:
        return part_model(get_args(annotation)[0])
    return None


@cache
def _field_adapter(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    info = model.model_fields[name]
    field: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    return TypeAdapter(field, config={"strict": True})
