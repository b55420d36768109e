"""Values of a template, as far as known before deployment.

Functions are worked out as far as the templates at hand allow: parameters by their defaults, ``Ref`` and ``GetAtt`` of a
resource as a reference to it, ``Sub`` and ``Join`` as text with gaps. What stays unknown is no ground for a finding.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value known only at deployment, with the name of its parameter or of what else gives it; `optional` if it may be left out."""

    name: str = ""
    optional: bool = False

    def __str__(self) -> str:
        return f"${{{self.name or '?'}}}"


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a resource of the numbered template, by ID or attribute."""

    template: int
    logical_id: str
    attribute: str = ""

    def __str__(self) -> str:
        return f"${{{'.'.join(part for part in (self.logical_id, self.attribute) if part)}}}"


@dataclass(frozen=True, slots=True)
class Text:
    """Known text, and what stands in the gaps."""

    parts: tuple["str | Reference | Unknown", ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class _Absent:
    """Marks an absent property."""


ABSENT: Final = _Absent()
GAP: Final = re.compile(r"\$\{[^{}]*\}")
"""An unknown part in the pattern of a property."""

DYNAMIC: Final = "{{resolve:"
"""Beginning of a dynamic reference: docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html (2026-11)."""


def joined(parts: list[Any]) -> Any:
    """Join parts: str if all are known, `Text` if some are unknown, else unknown."""
    flat: list[str | Reference | Unknown] = []
    for piece in _without_dynamic([piece for part in parts for piece in _pieces(part)]):
        if isinstance(piece, str) and flat and isinstance(flat[-1], str):
            flat[-1] += piece
        elif piece != "":
            flat.append(piece)
    if len(flat) > 1:
        return Text(tuple(flat))
    return flat[0] if flat else ""


def _without_dynamic(
    pieces: Iterable[str | Reference | Unknown],
) -> Iterator[str | Reference | Unknown]:
    """Replace each dynamic reference, which may contain others, by one value that is not known."""
    name = ""
    for piece in pieces:
        for part in re.split(r"(\{\{resolve:|\}\})", piece) if isinstance(piece, str) else (piece,):
            if name and part == "}}":
                yield Unknown(re.sub(r"[:${}]+", ".", name))
                name = ""
            elif name or part == DYNAMIC:
                name += str(part).removeprefix("{{")
            else:
                yield part


def references_in(value: Any) -> Iterator[Reference]:
    """Return every reference to a resource in a value, also inside of text, lists and mappings."""
    if isinstance(value, Reference):
        yield value
    elif isinstance(value, Text | list | dict):
        parts = (
            value.parts if isinstance(value, Text) else value.values() if isinstance(value, dict) else value
        )
        for part in parts:
            yield from references_in(part)


def _pieces(part: Any) -> tuple[str | Reference | Unknown, ...]:
    if isinstance(part, Text):
        return part.parts
    if isinstance(part, bool):
        return (str(part).lower(),)
    if isinstance(part, int | float):
        return (str(part),)
    return (part if isinstance(part, str | Reference | Unknown) else Unknown(),)
