"""The fields of what a rollout file describes: of pydantic models and of the values of `ultracluster_spec`."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any, TypeGuard

from pydantic import BaseModel

from ultracluster_spec.values import Value, annotations, fields_of

Part = type[BaseModel] | type[Value]
"""A mapping of the file: a model or a value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A field with its annotation, bounds included, and how to make its default; None if it is required."""

    annotation: Any
    default: Any = field(default=None)


def is_part(annotation: Any) -> TypeGuard[Part]:
    """Return whether an annotation is a mapping of the file."""
    return isinstance(annotation, type) and issubclass(annotation, (BaseModel, Value))


def part_fields(part: Part) -> Mapping[str, Field]:
    """Return the fields of a mapping of the file by name."""
    return dict(_value_fields(part) if issubclass(part, Value) else _model_fields(part))


def _value_fields(part: type[Value]) -> Iterator[tuple[str, Field]]:
    for name, each in fields_of(part).items():
        makes = each.default_factory if each.default is MISSING else (lambda default=each.default: default)
        yield name, Field(annotation=annotations(part)[name], default=None if makes is MISSING else makes)


def _model_fields(part: type[BaseModel]) -> Iterator[tuple[str, Field]]:
    for name, info in part.model_fields.items():
        annotation: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
        default = (
            None if info.is_required() else (lambda info=info: info.get_default(call_default_factory=True))
        )
        yield name, Field(annotation=annotation, default=default)
