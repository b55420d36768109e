"""Problems at locations of a rollout, before file and line are known."""

from collections.abc import Collection
from functools import reduce
from operator import getitem
from typing import Any, Final

from ultracluster_spec.bounds import NOT_A_CHOICE
from ultracluster_spec.credentials import shown
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.findings import Located
from ultracluster_spec.record import RuleRecord

Loc = tuple[str | int, ...]
"""Location of a value: keys and indexes from the top level, such as ``("waves", 0, "name")``."""


def loc_text(loc: Loc) -> str:
    """Format a location such as ``waves[0].clusters[0].nodes``; unusual keys are quoted in ASCII."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isascii() and part.replace("-", "_").isidentifier():
            text += f".{part}" if text else part
        else:
            text += f"[{shown(part)}]"
    return text


def value_at(values: Any, loc: Loc) -> Any:
    """Return the value at a location."""
    return reduce(getitem, loc, values)


Problem = Located[Loc]
"""A finding at a location of the rollout."""


def under(prefix: Loc, problem: Problem) -> Problem:
    """Return a problem with a prefix added to its location."""
    return Problem((*prefix, *problem.place), problem.finding)


def wrong_type(loc: Loc, value: object, *, allowed: str, remedy: str = "") -> Problem:
    """Return the problem of a value with the wrong type."""
    return Problem.of(loc, "UC1022", f"got {shown(value)}", allowed=allowed, remedy=remedy)


def not_a_choice(loc: Loc, value: object, choices: Collection[str], *, remedy: str = "") -> Problem:
    """Return the problem of a value that is not one of the choices."""
    return Problem.of(loc, NOT_A_CHOICE, f"got {shown(value)}", allowed=", ".join(choices), remedy=remedy)


def unknown_key(loc: Loc, known: Collection[str], *, of: str = "") -> Problem:
    """Return the problem of an unknown key."""
    key = str(loc[-1])
    return Problem.of(
        loc,
        "UC1020",
        f"unknown key {shown(key)}" + (f" of {of}" if of else ""),
        allowed=", ".join(known),
        remedy=suggestion(key, known),
    )


RECORDS: Final = (
    RuleRecord(
        "UC1020",
        "Every key of the rollout file is known.",
        remedy="Use the key that the finding suggests. Editors that read docs/rollout.schema.json complete the keys.",
        source="Our decision: if a misspelt key were ignored, an unintended default would stay in place.",
        example="region: us-east-2",
    ),
    RuleRecord(
        "UC1022",
        "Every value has the type of its key.",
        remedy="Write numbers and Booleans without quotes, and text that looks like a number in quotes.",
        source="Our decision: no value is converted silently, since conversions differ between YAML readers.",
        example="nodes: 4",
    ),
)
