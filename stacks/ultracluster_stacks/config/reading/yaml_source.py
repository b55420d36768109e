"""Read unambiguous YAML into plain values, with the line of each.

Values are built from PyYAML's parser events with `ultracluster_stacks.config.reading.scalars`, so that anchors, aliases,
tags, merge keys and duplicate keys are refused before they take effect.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from ultracluster_spec.credentials import credential, credential_kind, shown
from ultracluster_spec.findings import Finding, FindingsError, Located, Severity
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.untrusted_files import display_name
from ultracluster_stacks.config.reading.problem import Loc, Problem, loc_text
from ultracluster_stacks.config.reading.scalars import read_plain_scalar
from ultracluster_stacks.config.reading.source_file import (
    HIDDEN_CHARACTER,
    VISIBLE,
    hidden_character,
    read_source_file,
)

DEEPEST_NESTING: Final = 20
"""Maximum nesting of mappings and lists; a rollout needs 7."""

# The libyaml parser, which all wheels of PyYAML have, is ten times as fast.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_VARIABLE: Final = re.compile(r"\$(\{|[A-Za-z_])")  # as a shell expands it


class Unreadable:
    """Placeholder for a value with a reported problem, so that no other check reports it."""


UNREADABLE: Final = Unreadable()


@dataclass(frozen=True, kw_only=True, slots=True)
class YamlSource:
    """Content of a YAML file.

    Attributes:
        name: Name of the file for messages.
        values: Top-level mapping of str, int, float, bool, None, tuple and dict values, with
            `UNREADABLE` for values with a problem.
        places: File and line of each value; that of the key for a mapping entry.
        problems: Problems of single values, in file order.
    """

    name: str
    values: dict[str, Any]
    places: dict[Loc, tuple[str, int]]
    problems: tuple[Problem, ...]

    def place(self, loc: Loc) -> tuple[str, int]:
        """Return file and line of a value; of the closest enclosing mapping or list if it is missing."""
        while loc and loc not in self.places:
            loc = loc[:-1]
        return self.places.get(loc, (self.name, 1))

    def location(self, loc: Loc) -> str:
        """Return the place of a value as text, such as ``rollout.yaml:12``."""
        return "{}:{}".format(*self.place(loc))

    def locate(self, problem: Problem) -> Finding:
        """Return the finding of a problem with its path, file and line."""
        finding, loc = problem.finding, problem.place
        return finding.at(loc_text(loc), finding.location or self.location(loc))


_REMEDIES: Final = {
    "cannot start any token": "Indent with spaces, not tabs, and write text that begins with a character such as @ or % in quotes",
    "unknown escape character": "Write text with backslashes in single quotes",
    "mapping values are not allowed": "Indent the keys of a mapping alike, and write text with a colon and a space in quotes",
    "": "Check the indentation and quotes of this line and those above it",
}
"""What to do, by a part of what libyaml or PyYAML says, which often names neither the character nor the cause."""


def read_yaml(path: str | os.PathLike[str]) -> YamlSource:
    """Read a YAML file, with the line of each value and the problems of single values.

    Raises:
        FindingsError: The file as a whole is invalid: unreadable, too large, not UTF-8, not YAML, nested deeper
            than 20, not exactly one document, or not a mapping.
    """
    name = display_name(path)
    text = read_source_file(path)
    builder = _Builder(name)
    try:
        values = builder.read(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise FindingsError.of(
            "UC1005",
            f"this is not valid YAML: {shown(error.problem)}",
            remedy=next(text for part, text in _REMEDIES.items() if part in str(error.problem)),
            location=f"{name}:{line}",
        ) from None
    except yaml.YAMLError as error:
        raise _refusal(name, 1, "UC1005", f"this is not valid YAML: {shown(str(error))}") from None
    places = {loc: (name, line) for loc, line in builder.lines.items()}
    source = YamlSource(name=name, values=values, places=places, problems=tuple(builder.problems))
    if values is UNREADABLE:
        raise FindingsError(map(source.locate, source.problems))
    if not isinstance(values, dict):
        got = "nothing" if values is None else shown(values)
        raise _refusal(name, 1, "UC1006", f"got {got} at the top level", "a mapping with version and waves")
    return source


def _refusal(name: str, line: int, code: str, problem: str, allowed: str = "") -> FindingsError:
    return FindingsError.of(code, problem, allowed=allowed, location=f"{name}:{line}")


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1


class _Builder:
    """Build values from parser events, filling `lines` and `problems` as a side effect."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[Loc, int] = {}
        self.problems: list[Problem] = []

    def read(self, events: Iterator[yaml.Event]) -> Any:
        values: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    problem = "the file has several YAML documents"
                    raise _refusal(self.name, _line(event), "UC1006", problem, "one document")
                values = self._value(next(events), events, ())
        return values

    def _value(self, event: yaml.Event, events: Iterator[yaml.Event], loc: Loc) -> Any:
        line = _line(event)
        self.lines.setdefault(loc, line)
        if len(loc) > DEEPEST_NESTING:
            problem, allowed = f"nesting deeper than {DEEPEST_NESTING}", f"{DEEPEST_NESTING} levels"
            raise _refusal(self.name, line, "UC1007", problem, allowed)
        refused = self._refuses_indirection(event, loc)
        value: Any = UNREADABLE
        if isinstance(event, yaml.MappingStartEvent):
            value = self._mapping(events, loc)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(events, loc)
        elif isinstance(event, yaml.ScalarEvent) and not refused:
            value = self._scalar(event, loc)
        return UNREADABLE if refused else value

    def _mapping(self, events: Iterator[yaml.Event], loc: Loc) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            line = _line(event)
            key = self._key(event, events, loc)
            if key is None:
                self._skip(next(events), events, (*loc, ""))
            elif key in values:
                problem = f"duplicate key {shown(key)}, in lines {self.lines[*loc, key]} and {line}"
                self._report((*loc, key), "UC1012", problem, "each key once", "Keep one of them", line=line)
                self._skip(next(events), events, (*loc, ""))
            else:
                self.lines[*loc, key] = line
                values[key] = self._value(next(events), events, (*loc, key))
        return values

    def _sequence(self, events: Iterator[yaml.Event], loc: Loc) -> tuple[Any, ...]:
        values: list[Any] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            values.append(self._value(event, events, (*loc, len(values))))
        return tuple(values)

    def _key(self, event: yaml.Event, events: Iterator[yaml.Event], loc: Loc) -> str | None:
        """Return the key of an event, or report a problem and return None."""
        line = _line(event)
        if not isinstance(event, yaml.ScalarEvent):
            self._report(loc, "UC1011", "a key is a mapping, a list or an alias", "a string", line=line)
            self._skip(event, events, (*loc, ""))
            return None
        if event.implicit[0] and event.value == "<<":
            remedy = "Put common settings of clusters under `defaults`"
            self._report(loc, "UC1010", "got the merge key <<", "no merge keys", remedy, line=line)
            return None
        refused = self._refuses_indirection(event, loc) or self._refuses_text(event.value, loc, line)
        if not refused and event.implicit[0] and not isinstance(read_plain_scalar(event.value, loc), str):
            problem = f"the unquoted key {shown(event.value)} is not a string"
            self._report(loc, "UC1011", problem, "text", f'Write "{shown(event.value)[1:-1]}"', line=line)
            refused = True
        return None if refused else event.value

    def _scalar(self, event: yaml.ScalarEvent, loc: Loc) -> Any:
        if self._refuses_text(event.value, loc, _line(event)):
            return UNREADABLE
        value = read_plain_scalar(event.value, loc) if event.implicit[0] else event.value
        if isinstance(value, Located):
            self.problems.append(value)
            return UNREADABLE
        if (
            isinstance(value, str) and _VARIABLE.search(value) and "command" not in loc
        ):  # a shell may expand a command
            self._report(
                loc, "UC1017", f"got {shown(value)}, which is not expanded", remedy="Write the value itself"
            )
        return value

    def _refuses_indirection(self, event: yaml.Event, loc: Loc) -> bool:
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        line = _line(event)
        if anchor is not None:
            problem = (
                f"got {'an alias' if isinstance(event, yaml.AliasEvent) else 'an anchor'}, {shown(anchor)}"
            )
            remedy = "Put common settings of clusters under `defaults`"
            self._report(loc, "UC1008", problem, "neither anchors nor aliases", remedy, line=line)
        if tag is not None:
            problem = f"got the tag {shown(tag)}"
            self._report(loc, "UC1009", problem, "no tags", "Remove the tag", line=line)
        return anchor is not None or tag is not None

    def _refuses_text(self, text: str, loc: Loc, line: int) -> bool:
        hidden = hidden_character(text)  # an escape sequence can add one; the file itself was checked before
        if hidden is not None:
            problem = f"got the invisible character U+{ord(hidden[0]):04X}"
            self._report(loc, HIDDEN_CHARACTER, problem, VISIBLE, line=line)
        elif kind := credential_kind(text):
            self.problems.append(self._at_line(Problem(loc, credential(f"this looks like {kind}")), line))
        else:
            return False
        return True

    def _at_line(self, problem: Problem, line: int) -> Problem:
        return Problem(problem.place, problem.finding.at("", f"{self.name}:{line}"))

    def _skip(self, event: yaml.Event, events: Iterator[yaml.Event], loc: Loc) -> None:
        _Builder(self.name)._value(event, events, loc)  # noqa: SLF001 - same class

    def _report(
        self,
        loc: Loc,
        code: str,
        problem: str,
        allowed: str = "",
        remedy: str = "",
        *,
        line: int | None = None,
    ) -> None:
        located = Problem.of(loc, code, problem, allowed, remedy)
        self.problems.append(located if line is None else self._at_line(located, line))


RECORDS: Final = (
    RuleRecord(
        "UC1005",
        "The rollout file is well-formed YAML.",
        remedy="Close the bracket or quote, and indent with spaces: YAML does not allow tabs for indentation.",
        source="YAML 1.2.2, 2021-10-01.",
        example="nodes: 4",
    ),
    RuleRecord(
        "UC1006",
        "The rollout file is one YAML document that contains one mapping.",
        remedy="Write one mapping with `version` and `waves`; put each document that `---` separates into its own file.",
        source="Our decision: of several documents a reader would silently take the first.",
    ),
    RuleRecord(
        "UC1007",
        "Nothing in the rollout file is nested deeper than 20 levels.",
        remedy="Close the brackets in the right places: no value of a rollout is nested that deeply.",
        source="Our decision: deeper nesting is a mistake, or an attack on the reader's stack.",
        example="tags: {a: x}",
    ),
    RuleRecord(
        "UC1008",
        "The rollout file has no anchors and no aliases.",
        remedy="Put settings that clusters share under `defaults`; the schema supports it, and findings name its line.",
        source="Our decision: aliases can grow a small file without bound (billion laughs), and hide which line a value comes from.",
        example="tags: {team: research}",
    ),
    RuleRecord(
        "UC1009",
        "The rollout file has no YAML tags.",
        remedy="Remove the tag: each key already has one type.",
        source="Our decision: a tag can make YAML readers build objects of any type.",
        example="nodes: 4",
    ),
    RuleRecord(
        "UC1010",
        "The rollout file has no merge keys.",
        remedy="Put settings that clusters share under `defaults`.",
        source="YAML 1.1 merge keys are not part of YAML 1.2 (2009); readers disagree about them.",
        example="tags: {team: research}",
    ),
    RuleRecord(
        "UC1011",
        "The keys of a mapping are text.",
        remedy="Write the key in quotes.",
        source="Our decision: keys become names of tags and variables, which are text.",
        example='tags: {"1": research}',
    ),
    RuleRecord(
        "UC1012",
        "A key occurs once in a mapping.",
        remedy="Keep one of the two lines; the finding names both.",
        source="YAML 1.2.2, 2021-10-01, 3.2.1.1: keys of a mapping are unique. Many parsers silently use the last one.",
        example="nodes: 16",
    ),
    RuleRecord(
        "UC1017",
        "A value does not look like a variable to be substituted.",
        severity=Severity.WARNING,
        remedy="Write the value itself: variables in a rollout file are not substituted. The command of a job may contain them, since a shell may expand them.",
        source="Our decision: the same file must give the same templates on every machine.",
        suppressible=True,
    ),
)
