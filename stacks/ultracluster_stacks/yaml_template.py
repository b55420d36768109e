"""Read YAML templates, with short forms of functions (``!Ref``, ``!Sub``) expanded, and the line of each value."""

from collections.abc import Iterator
from typing import Any, Final

import yaml

from ultracluster_spec.findings import quote
from ultracluster_spec.record import RuleRecord

DEEPEST_NESTING: Final = 60
"""Maximum nesting of mappings and lists; our deepest template has 14 levels."""

_DEEPEST_LINE: Final = 30  # no rule inspects deeper levels, and each path uses memory

Lines = dict[tuple[str | int, ...], int]

# The libyaml parser, which all wheels of PyYAML have, is ten times as fast.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD: Final = "tag:yaml.org,2002:"
_PLAIN_TAGS: Final = {f"{_STANDARD}{name}" for name in ("bool", "float", "int", "map", "null", "seq", "str")}
_SAME_NAME: Final = {"Ref", "Condition"}


class TemplateError(ValueError):
    """A template that is not valid YAML or JSON.

    Attributes:
        code: Code of the rule.
        allowed: What is allowed; empty if omitted.
        line: Line, starting at 1. None if unknown.
    """

    code = "UC9506"

    def __init__(self, problem: str, allowed: str = "", *, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.allowed = allowed
        self.line = line


class UnsupportedTemplateError(TemplateError):
    """A template with YAML that CloudFormation does not support, or nested too deeply."""

    code = "UC9507"


def read_yaml_template(text: str) -> tuple[Any, Lines]:
    """Read a template in YAML or JSON: its values with functions in their long form, and the line of each value.

    Raises:
        TemplateError: The template is invalid, or has aliases, unknown tags, duplicate keys, nesting deeper than 60
            or several documents.
    """
    reader = _Reader()
    try:
        return reader.read(yaml.parse(text, Loader=_LOADER)), reader.lines
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise TemplateError(f"this is not valid YAML: {error.problem}", line=line) from None
    except yaml.YAMLError as error:
        raise TemplateError(f"this is not valid YAML: {quote(str(error))}") from None


class _Scalars(yaml.SafeLoader):
    """Plain scalars as CloudFormation reads them: YAML 1.1, but a date such as 2010-09-09 stays a string."""


_Scalars.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in _PLAIN_TAGS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _Reader:
    """Build values from parser events, filling `lines` as a side effect."""

    def __init__(self) -> None:
        self.lines: Lines = {}
        self._scalars: Any = _Scalars("")  # untyped in PyYAML

    def read(self, events: Iterator[yaml.Event]) -> Any:
        values: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise TemplateError(
                        "the file has several YAML documents", "one document", line=_line(event)
                    )
                values = self._value(next(events), events, ())
        return values

    def _value(self, event: yaml.Event, events: Iterator[yaml.Event], path: tuple[str | int, ...]) -> Any:
        line = _line(event)
        if len(path) <= _DEEPEST_LINE:
            self.lines.setdefault(path, line)
        if len(path) > DEEPEST_NESTING:
            problem = f"nesting deeper than {DEEPEST_NESTING}"
            raise UnsupportedTemplateError(problem, f"{DEEPEST_NESTING} levels", line=line)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            problem = "got an anchor or an alias, which CloudFormation does not support"
            raise UnsupportedTemplateError(problem, "the value itself", line=line)
        tag = getattr(event, "tag", None)
        if isinstance(event, yaml.MappingStartEvent):
            value: Any = self._mapping(events, path)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(events, path)
        elif isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        else:
            raise TemplateError("this is not valid YAML: a value is missing", line=line)
        return value if tag in {None, "!"} or tag in _PLAIN_TAGS else _function(str(tag), value, line)

    def _mapping(self, events: Iterator[yaml.Event], path: tuple[str | int, ...]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            line = _line(event)
            if not isinstance(event, yaml.ScalarEvent):
                raise TemplateError("a key is not a string", "a string", line=line)
            key = event.value
            if key == "<<" and event.implicit[0]:
                raise UnsupportedTemplateError("got the merge key <<", "the values themselves", line=line)
            if key in values:
                raise TemplateError(f"duplicate key {quote(key)}", "each key once", line=line)
            if len(path) < _DEEPEST_LINE:
                self.lines[*path, key] = line
            values[key] = self._value(next(events), events, (*path, key))
        return values

    def _sequence(self, events: Iterator[yaml.Event], path: tuple[str | int, ...]) -> list[Any]:
        values: list[Any] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            values.append(self._value(event, events, (*path, len(values))))
        return values

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        text = event.value
        tag = (
            event.tag
            if event.tag in _PLAIN_TAGS
            else self._scalars.resolve(yaml.ScalarNode, text, event.implicit)
        )
        if tag == f"{_STANDARD}str" or not (event.implicit[0] or event.tag in _PLAIN_TAGS):
            return text
        try:
            return self._scalars.construct_object(yaml.ScalarNode(tag, text))
        except (ValueError, yaml.YAMLError):
            return text  # for example a number of 5,000 digits, which Python does not convert


def _function(tag: str, argument: Any, line: int) -> dict[str, Any]:
    name = tag.removeprefix("!")
    if tag == name or not name.isalnum():
        raise TemplateError(f"got the tag {quote(tag)}", "functions such as !Ref and !Sub", line=line)
    return {name if name in _SAME_NAME else f"Fn::{name}": argument}


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1


RECORDS: Final = (
    RuleRecord(
        "UC9506",
        "A template to check is well-formed JSON or YAML, with each key once.",
        remedy="Fix the line that the finding names.",
        source="Our decision: a file that two readers understand in two ways is judged by none.",
    ),
    RuleRecord(
        "UC9507",
        "A template to check has no aliases, and nothing in it is nested deeper than 60 levels.",
        remedy="Write the value where it is needed, or make it a parameter.",
        source="CloudFormation user guide, template formats: YAML without aliases. Our decision: 60 levels, of which our templates need 14.",
    ),
)
