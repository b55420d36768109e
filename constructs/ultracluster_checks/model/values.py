"""Values of a template, as far as known before deployment.

Functions are worked out as far as the templates at hand allow: parameters by their defaults, ``Ref`` and ``GetAtt`` of a
resource as a reference to it, ``Sub`` and ``Join`` as text with gaps. What stays unknown is no ground for a finding.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value known only at deployment, of a parameter if it has a name; `optional` if a condition may leave it out."""

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


def joined(parts: list[Any]) -> Any:
    """Join parts: str if all are known, `Text` if some are unknown, else unknown."""
    flat: list[str | Reference | Unknown] = []
    for piece in [piece for part in parts for piece in _pieces(part)]:
        if isinstance(piece, str) and flat and isinstance(flat[-1], str):
            flat[-1] += piece
        elif piece != "":
            flat.append(piece)
    if len(flat) > 1:
        return Text(tuple(flat))
    return flat[0] if flat else ""


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
