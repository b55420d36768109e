"""Values: frozen dataclasses whose fields are declared once, with type, bounds, default and a sentence below.

The YAML reader builds them with pydantic, constructs and commands with keywords. This package imports no pydantic; the
methods that pydantic calls take and return plain values.
"""

import ast
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from functools import cache
from itertools import pairwise
from types import UnionType
from typing import Annotated, Any, ClassVar, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from ultracluster_spec.arguments import find_wrong_fields
from ultracluster_spec.bounds import Bound
from ultracluster_spec.findings import Finding

_Made = TypeVar("_Made")


class Value:
    """Base class of the values of a cluster; `dataclass(frozen=True, kw_only=True, slots=True)` makes each of them."""

    __slots__ = ()
    word: ClassVar[str] = ""  # what a file has in place of the fields; empty for a value with fields
    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": True, "hide_input_in_errors": True}

    def __post_init__(self) -> None:
        """Copy lists and mappings, so that a value does not change with what it was built from."""
        for name in fields_of(type(self)):
            match getattr(self, name):
                case list() as items:
                    object.__setattr__(self, name, tuple(items))
                case dict() as entries:
                    object.__setattr__(self, name, {**entries})

    def differs(self, name: str) -> bool:
        """Return whether a field has another value than its default."""
        return bool(getattr(self, name) != default_of(type(self), name))

    def known(self) -> dict[str, Any]:
        """Return the fields that are set, by name."""
        return {name: getattr(self, name) for name in fields_of(type(self)) if hasattr(self, name)}

    def without(self, names: Collection[str]) -> Self:
        """Return a copy in which some fields are unset, because their values are not known."""
        return incomplete(
            type(self), {name: value for name, value in self.known().items() if name not in names}
        )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Take a mapping for the value, which strict mode refuses, and stay strict about its fields."""
        schema = handler(source)
        node = handler.resolve_ref_schema(schema) if schema["type"] == "definition-ref" else schema  # type: ignore[attr-defined]
        while node["type"] != "dataclass":
            node = node["schema"]
        node["strict"] = False
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Callable[[Any], Any]) -> Any:
        """Describe the fields by the sentences below them."""
        described = handler(schema)
        whole = handler.resolve_ref_schema(described)  # type: ignore[attr-defined]
        whole["properties"] = {name: whole["properties"][name] for name in fields_of(cls)}
        for name, field in whole["properties"].items():
            field["description"] = sentences(cls)[name]
        return described


def plain(content: Any) -> Any:
    """Return what a field holds as JSON has it: values are objects, times are texts."""
    match content:
        case Value(word=word) if word:
            return word
        case Value():
            return {name: plain(inner) for name, inner in content.known().items()}
        case tuple():
            return [plain(item) for item in content]
        case dict():
            return {key: plain(item) for key, item in content.items()}
        case datetime():
            return content.isoformat()
    return content


def fields_of(value_type: type) -> Mapping[str, Any]:
    """Return the fields of a dataclass by name, without class variables."""
    return _fields_of(value_type)


def default_of(value_type: type, name: str) -> Any:
    """Return the default of a field; MISSING if it is required."""
    described = fields_of(value_type)[name]
    return described.default if described.default_factory is MISSING else described.default_factory()


@cache
def _fields_of(value_type: type) -> Mapping[str, Any]:
    # What makes a value of its base special comes first, such as its name.
    places = {name: place for place, name in enumerate(inspect.get_annotations(value_type))}
    ordered = sorted(fields(value_type), key=lambda field: places.get(field.name, len(places)))
    return {field.name: field for field in ordered}


def wrong_types(value: Value, *, tokens: bool = False) -> list[Finding]:
    """Return the fields of a value, and of values in it, that are of another type, or numbers that jsii cannot carry.

    Args:
        value: The value.
        tokens: Whether its own numbers may be tokens. Default: they may not.
    """
    found = find_wrong_fields(value, tokens=tokens)
    return found + [each for path, inner in _inner(value) for each in under(path, wrong_types(inner))]


def broken_bounds(value: Value, *, is_known: Callable[[Any], bool] = lambda _: True) -> list[Finding]:
    """Return the fields of a value, and of values in it, that break their bounds, of those that are known.

    Args:
        value: The value.
        is_known: Whether a text or number is known, inside of fields too. Default: all are.
    """
    hints = annotations(type(value))
    found = [
        finding
        for name, content in value.known().items()
        if content is not None
        for path, item, annotation in ((name, content, hints[name]), *_items(name, content, hints[name]))
        if is_known(item)
        for bound in _bounds(annotation)
        for finding in bound.check(item, path=path)
    ]
    return found + [
        each for path, inner in _inner(value) for each in under(path, broken_bounds(inner, is_known=is_known))
    ]


def under(path: str, findings: Iterable[Finding]) -> list[Finding]:
    """Return findings about a value with the path to it."""
    return [finding.at(f"{path}.{finding.path}" if finding.path else path) for finding in findings]


def _inner(value: Value) -> Iterator[tuple[str, "Value"]]:
    """Yield the values in a value with the paths to them."""
    for name, content in value.known().items():
        if isinstance(content, Value):
            yield name, content
        elif isinstance(content, tuple):
            yield from (
                (f"{name}[{index}]", item) for index, item in enumerate(content) if isinstance(item, Value)
            )


def _items(path: str, content: Any, annotation: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the items of a list, and the keys and values of a mapping, with their paths and annotations."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    match content, get_args(annotation):
        case tuple(), (item, *_):
            yield from ((f"{path}[{index}]", each, item) for index, each in enumerate(content))
        case dict(), (key, item):
            for name, each in content.items():
                yield f"{path}.{name}", name, key
                yield f"{path}.{name}", each, item


def _bounds(annotation: Any) -> list[Bound]:
    """Return the bounds of a field, also of an optional one."""
    here = [bound for bound in getattr(annotation, "__metadata__", ()) if isinstance(bound, Bound)]
    if here or (get_origin(annotation) is not UnionType and get_origin(annotation) is not Union):
        return here
    return [bound for part in get_args(annotation) for bound in _bounds(part)]


def annotations(value_type: type) -> Mapping[str, Any]:
    """Return the annotations of the fields of a value, with their bounds."""
    return _annotations(value_type)


@cache
def _annotations(value_type: type) -> Mapping[str, Any]:
    hints = get_type_hints(value_type, include_extras=True)
    return {name: hints[name] for name in fields_of(value_type)}


def incomplete(made: type[_Made], values: Mapping[str, Any]) -> _Made:
    """Build a dataclass of some of its fields; reading one of the others raises AttributeError."""
    built = object.__new__(made)
    for name, value in values.items():
        object.__setattr__(built, name, value)
    return built


def is_unset(error: AttributeError) -> bool:
    """Return whether an error is about a field without a value, and not about a name that is no field."""
    return error.name in getattr(error.obj, "__dataclass_fields__", {})


def sentences(described_type: type) -> dict[str, str]:
    """Return the docstrings below the fields of a class by name; read on demand, since that parses its source."""
    return _sentences(described_type)


@cache
def _sentences(described_type: type) -> dict[str, str]:
    described: dict[str, str] = {}
    for base in reversed(described_type.__mro__[:-1]):
        if base.__module__.split(".")[0] in {"pydantic", "typing"}:
            continue
        body = ast.parse(inspect.getsource(base)).body[0].body  # type: ignore[attr-defined]  # a class
        for statement, below in pairwise(body):
            match statement, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    described[name] = " ".join(text.split())
    return described
