"""Reject numbers that jsii cannot carry, and values of another type than an argument is annotated with.

A NaN or an infinity terminates the jsii process, and an integer of 2^53 or more loses precision on the way. Arguments
and fields that are annotated as int or float are therefore checked in Python first. So is the type of the others: a text
where a list of texts belongs would otherwise be taken as a list of characters.
"""

import inspect
import re
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    ParamSpec,
    Required,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
)

from ultracluster_spec.bounds import NOT_A_CHOICE
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.findings import (
    Finding,
    FindingsError,
    is_number_token,
    is_token,
    printable,
    quote,
    reject,
)
from ultracluster_spec.record import RuleRecord

_LIMIT: Final = 2**53  # JSON, and therefore CloudFormation and jsii, carry smaller integers exactly

_LISTS: Final = (Sequence, list, tuple, frozenset, set)
_MAPPINGS: Final = (Mapping, dict)
_PLAIN: Final = {"NoneType", "bool", "bytes", "dict", "float", "int", "list", "object", "str", "tuple"}

NOT_OF_ITS_TYPE: Final = "UC1032"
"""Code of a value of another type than its argument takes."""

_NAMES: Final[Mapping[type, str]] = {types.NoneType: "None", float: "a number", str: "a text"}
_PLURALS: Final = {"a number": "numbers", "a text": "texts"}

_WHOLE: Final = "a whole number"
_FINITE: Final = "a finite number"

_REFUSED_BY_CDK: Final = re.compile(
    r"There is already a Construct with name .*|\w+ at '.*' should be created in the scope of a Stack"
    r"|Only root constructs may have an empty ID"
)
"""What the CDK says of an ID that is taken or empty, and of a scope outside a stack, which are mistakes of the call."""

_IN_FILES: Final = {"name": "cluster_name", "nodes": "node_count"}
"""Arguments that have another name in a rollout file."""

_IN_UNITS: Final = {
    "days": "to_days",
    "gib": "to_gibibytes",
    "hours": "to_hours",
    "mib": "to_mebibytes",
    "minutes": "to_minutes",
}
"""Methods of the CDK's `Duration` and `Size` by the unit at the end of a name."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class ArgumentsError(FindingsError, TypeError):
    """A call that does not match the parameters: a `TypeError`, as of any function, which an app shows as one line."""


def validate_arguments(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Make a function reject numbers that jsii cannot carry (UC1030), other types (UC1032) and other words (UC1023) before its body runs.

    Whatever it refuses, it names the path of the construct that it makes or belongs to. A call that does not match the
    parameters, or those of ``**options: Unpack[...]``, is an `ArgumentsError`.
    """
    options = _options(function)
    annotations = _arguments(function, options)
    own = inspect.get_annotations(function)  # options that jobs share have a rule of their own
    numbers = _kinds(annotations)
    names = list(inspect.signature(function).parameters)

    @wraps(function)
    def checked(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        given = dict(zip(names, args, strict=False)) | kwargs
        found = _find({name: given[name] for name in numbers if name in given}, numbers)
        others = [*_find_types(given, annotations), *_find_choices(given, own), *_find_token_id(given)]
        try:
            if options is not None:
                _check_options(kwargs.keys() - names, options, function)
            reject(_once([*found, *others]))
            return function(*args, **kwargs)
        except FindingsError as error:
            path = _construct_path(given)
            raise (error.within(path) if path else error) from None
        except TypeError as error:
            if error.__traceback__ and error.__traceback__.tb_next:
                raise  # of the body
            raise arguments_error(str(error), names_of(function)).within(_construct_path(given)) from None
        except RuntimeError as error:  # of the CDK, through jsii
            if refusal := _REFUSED_BY_CDK.search(str(error)):
                raise FindingsError.message(refusal[0]).within(_construct_path(given)) from None
            raise

    return checked


def _options(function: Callable[..., Any]) -> Any:
    """Return the `TypedDict` of the arguments that are passed as ``**options: Unpack[...]``; None without one."""
    annotations: Iterable[Any] = inspect.get_annotations(function).values()
    return next((get_args(each)[0] for each in annotations if get_origin(each) is Unpack), None)


def _check_options(given: set[str], options: Any, function: Callable[..., Any]) -> None:
    unknown, missing = given - options.__annotations__.keys(), options.__required_keys__ - given
    if unknown:
        problem = f"got an unexpected keyword argument {min(unknown)!r}"
    elif missing:
        problem = f"missing the required keyword argument {min(missing)!r}"
    else:
        return
    raise arguments_error(f"{function.__qualname__}() {problem}", names_of(function))


def names_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of all arguments of a function, also of those in ``**options: Unpack[...]``."""
    options = _options(function)
    explicit = inspect.signature(function).parameters.values()
    return [
        *(each.name for each in explicit if each.name != "self" and each.kind is not each.VAR_KEYWORD),
        *(options.__annotations__ if options is not None else ()),
    ]


def arguments_error(said: str, names: Collection[str]) -> ArgumentsError:
    """Return what Python said about a call, with the names that it takes if one is unknown."""
    said = said.replace(".__init__()", "()")
    # Newer versions of Python go on with what they guess was meant.
    unknown = re.match(r".* unexpected keyword argument '(\w+)'", said)
    if not unknown:
        by_position = " positional argument" in said and " but " in said
        return ArgumentsError.message(said, remedy="Pass the others by name" if by_position else "")
    name = _IN_FILES.get(unknown[1], "")
    remedy = suggestion(name if name in names else unknown[1], names)
    return ArgumentsError.message(unknown[0], allowed=", ".join(names), remedy=remedy)


def _once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings without a further rule about what one of them is about, or a part of it."""
    for index, finding in enumerate(findings):
        if not any(
            each.code != finding.code
            and (_contains(each.path, finding.path) or _contains(finding.path, each.path))
            for each in findings[:index]
        ):
            yield finding


def _contains(path: str, other: str) -> bool:
    return other == path or other.startswith((f"{path}.", f"{path}["))


def _construct_path(given: Mapping[str, Any]) -> str:
    """Return the path of the construct that a call makes in a scope, or of the one whose method is called."""
    scope, name = given.get("scope", given.get("self")), given.get("construct_id", "")
    path = getattr(getattr(scope, "node", None), "path", "")  # a construct; this package knows no CDK
    return "/".join(part for part in (path, name) if part and isinstance(part, str) and not is_token(part))


def validate_fields(values: Any) -> None:
    """Raise what `find_wrong_fields` finds."""
    reject(find_wrong_fields(values))


def find_wrong_fields(values: Any, *, tokens: bool = False) -> list[Finding]:
    """Find fields of a dataclass that jsii cannot carry (UC1030), of another type (UC1032), or another word (UC1023)."""
    annotations = _fields(values.__class__)
    fields = {name: getattr(values, name) for name in annotations}
    numbers = _kinds(annotations)
    found = [
        *_find({name: fields[name] for name in numbers}, numbers, tokens=tokens),
        *_find_types(fields, annotations),
        *_find_choices(fields, annotations),
    ]
    return [*_once(found)]


@cache
def _fields(definition: type) -> Mapping[str, Any]:
    return {
        name: _plain(annotation)
        for base in reversed(definition.__mro__)
        for name, annotation in inspect.get_annotations(base).items()
        if not str(annotation).startswith("typing.ClassVar")
    }


def _plain(annotation: Any) -> Any:
    """Return an annotation without bounds."""
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[0]
    if get_origin(annotation) in {types.UnionType, Union}:
        return Union[tuple(map(_plain, get_args(annotation)))]  # noqa: UP007 - made of parts
    return annotation


def _kinds(annotations: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: kind
        for name, annotation in annotations.items()
        if name != "return" and (kind := _kind(annotation))
    }


def _arguments(function: Callable[..., Any], options: Any) -> dict[str, Any]:
    """Return the annotations of the arguments, also of those in `options`."""
    explicit = inspect.get_annotations(function)
    shared = inspect.get_annotations(options) if options is not None else {}
    return {
        name: get_args(annotation)[0] if get_origin(annotation) is Required else annotation
        for name, annotation in {**shared, **explicit}.items()
        if name != "return" and get_origin(annotation) is not Unpack
    }


def _find_types(values: Mapping[str, Any], annotations: Mapping[str, Any]) -> list[Finding]:
    return [
        finding
        for name, value in values.items()
        if name in annotations
        for finding in _wrong(name, value, annotations[name])
    ]


def _wrong(path: str, value: Any, annotation: Any) -> Iterator[Finding]:
    """Yield what is not of its type: the items of a list or a dictionary, where one is allowed, else the value itself."""
    if _is_of(value, annotation):
        return
    union = get_origin(annotation) in {types.UnionType, Union}
    for part in get_args(annotation) if union else (annotation,):
        origin, parts = get_origin(part), get_args(part)
        if origin in _LISTS and isinstance(value, _LISTS) and not isinstance(value, str | bytes):
            for index, item in enumerate(value):
                yield from _wrong(f"{path}[{index}]", item, parts[0])
            return
        if origin in _MAPPINGS and isinstance(value, Mapping):
            for key, item in value.items():
                yield from _wrong(path, key, parts[0])
                yield from _wrong(f"{path}.{key}", item, parts[1])
            return
    allowed = _name(annotation)
    remedy = "Pass one, such as Duration.minutes(30)" if allowed.startswith("cdk.Duration") else ""
    yield Finding(NOT_OF_ITS_TYPE, f"got {_shown(value)}", allowed=allowed, remedy=remedy, path=path)


def _find_token_id(given: Mapping[str, Any]) -> list[Finding]:
    """Find an ID that is a token, which the CDK refuses late, at the first part of the construct, or never."""
    name = given.get("construct_id", "")
    if not isinstance(name, str) or not is_token(name):
        return []
    return [Finding(NOT_OF_ITS_TYPE, f"got {quote(name)}", allowed="a text", path="construct_id")]


def _find_choices(values: Mapping[str, Any], annotations: Mapping[str, Any]) -> list[Finding]:
    """Find words that are none of the choices of their argument (UC1023), as in a rollout file."""
    return [
        Finding(
            NOT_A_CHOICE,
            f"got {quote(word)}",
            allowed=", ".join([*choices, *_classes(annotations[name])]),
            path=path,
        )
        for name, value in values.items()
        if name in annotations and (choices := _choices(annotations[name]))
        for path, word in _flatten(name, value)
        if isinstance(word, str) and word not in choices
    ]


def _choices(annotation: Any) -> tuple[str, ...]:
    """Return the words that an argument, or each item of it, takes; none if it takes any text."""
    parts = get_args(annotation)
    if get_origin(annotation) is Literal:
        return tuple(map(str, parts)) if str in map(type, parts) else ()
    if get_origin(annotation) in _LISTS:
        return _choices(parts[0])
    if get_origin(annotation) in {types.UnionType, Union} and str not in parts:
        return tuple(choice for part in parts for choice in _choices(part))
    return ()


def _classes(annotation: Any) -> list[str]:
    """Return what an argument takes beside words."""
    parts = get_args(annotation) if get_origin(annotation) in {types.UnionType, Union} else ()
    return [_name(part) for part in parts if isinstance(part, type) and part is not types.NoneType]


def _shown(value: Any) -> str:
    """Return a value as a literal, or the name of its class if its `repr` is no literal."""
    text = quote(value)
    name = type(value).__name__
    if name.endswith("Proxy"):  # of jsii, for what is known by its interface or abstract class
        name = name.removeprefix("_").removesuffix("Proxy")
    return f"an object of {name}" if text.startswith("<") else text


def _name(annotation: Any) -> str:
    """Return how a message names what an annotation allows."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and not parts:
        return _NAMES.get(annotation, _qualified(annotation))
    names = [] if origin is Literal else [*map(_name, parts)]
    if origin is Annotated:
        return names[0]
    if origin in {types.UnionType, Union}:
        return " or ".join(names)
    if origin in _LISTS:
        return f"a list of {_PLURALS.get(names[0], names[0])}" if " or " not in names[0] else "a list"
    if origin is Literal:
        return " or ".join(map(quote, parts))
    return "a dictionary" if origin in _MAPPINGS else str(annotation)


def _qualified(definition: type) -> str:
    """Return the name of a class as apps write it, such as ``ec2.IVpc``."""
    module = definition.__module__.rpartition(".")[2]
    return (
        f"{module.removeprefix('aws_')}.{definition.__name__}"
        if module.startswith("aws_")
        else definition.__name__
    )


def _is_of(value: Any, annotation: Any) -> bool:
    """Return whether a value may be of an annotated type. Unknown annotations and unresolved tokens pass."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is Any or hasattr(value, "resolve"):
        return True
    if origin is Annotated:
        return _is_of(value, parts[0])
    if origin in {types.UnionType, Union}:
        return any(_is_of(value, part) for part in parts)
    if origin in _LISTS:
        return (
            isinstance(value, _LISTS)
            and not isinstance(value, (str, bytes))
            and all(_is_of(item, parts[0]) for item in value)
        )
    if origin in _MAPPINGS:
        return isinstance(value, Mapping) and all(
            _is_of(key, parts[0]) and _is_of(item, parts[1]) for key, item in value.items()
        )
    return _is_single(value, annotation)


def _is_single(value: Any, annotation: Any) -> bool:
    if annotation in {int, float}:
        return not isinstance(value, (*_LISTS, Mapping, types.NoneType))  # UC1030 is about others
    if get_origin(annotation) is Literal:
        return type(value) in set(map(type, get_args(annotation)))  # rules say which
    if annotation is str:
        return isinstance(value, str) and printable(value) == value
    if isinstance(annotation, str):  # of a module that is imported for the annotation only
        return not annotation.isidentifier() or type(value).__name__ not in _PLAIN
    if getattr(annotation, "_is_protocol", False):
        # Asks the classes, because the properties of an imported resource can raise. An object of several interfaces has a
        # delegate for each.
        classes = [type(each) for each in (value, *getattr(value, "_delegates", ()))]
        return all(any(hasattr(each, name) for each in classes) for name in _members(annotation))
    return not isinstance(annotation, type) or isinstance(value, annotation)


@cache
def _members(protocol: type) -> frozenset[str]:
    return frozenset(name for base in protocol.__mro__ for name in vars(base) if not name.startswith("_"))


def _kind(annotation: Any) -> str | None:
    """Return the kind of number that an annotation contains, also as items or values."""
    if annotation is int:
        return _WHOLE
    if annotation is float:
        return _FINITE
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return _kind(parts[0])
    if get_origin(annotation) in {types.UnionType, Union, *_LISTS, *_MAPPINGS}:
        return next((kind for part in parts if (kind := _kind(part))), None)
    return None


def _find(values: Mapping[str, Any], kinds: Mapping[str, str], *, tokens: bool = False) -> list[Finding]:
    return [
        Finding(
            "UC1030",
            f"got {_shown(number)}",
            allowed=f"{kinds[name]} between -2^53 and 2^53" if _is_large(number) else kinds[name],
            remedy=_as_number(path, number),
            path=path,
        )
        for name, value in values.items()
        for path, number in _flatten(name, value)
        if number is not None
        and not _is_safe(number, kinds[name])
        and not (tokens and is_number_token(number))
    ]


def _as_number(path: str, value: Any) -> str:
    """Return how a duration or a size becomes the number that a name with a unit asks for."""
    method = _IN_UNITS.get(path.rpartition("_")[2], "")
    return f"Pass int(given.{method}()), a number in the unit of the name" if hasattr(value, method) else ""


def _flatten(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f"{name}.{key}", item) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(value))
    else:
        yield name, value


def _is_large(value: Any) -> bool:
    return isinstance(value, int | float) and not is_number_token(value) and abs(value) >= _LIMIT


def _is_safe(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) < _LIMIT
    return kind == _FINITE and isinstance(value, float) and abs(value) < _LIMIT


RECORDS: Final = (
    RuleRecord(
        "UC1030",
        "A number that is passed to a construct is known at synthesis, finite, below 2^53, and whole if it is a count.",
        remedy="Find the calculation that resulted in NaN, an infinity or a fraction, and pass a whole number for counts.",
        source="RFC 8259 (2017-12), section 6: JSON, by which jsii talks to Node, has no NaN and no infinity, and loses digits above 2^53.",
        example='SmokeTrain(stack, "Smoke", queue=queue, image=image, steps=20)',
    ),
    RuleRecord(
        "UC1032",
        "An argument of a construct has its documented type, and texts contain no control characters.",
        remedy="Pass a value of the type that the finding names; a command is a list of words.",
        source="Our decision: Python takes a text for a list of its characters, and JSON carries what CloudFormation refuses.",
        example='SingleNodeJob(stack, "Job", Job(image=image, command=("train.py",)), queue=queue)',
    ),
)
