"""The table of seeds, and what the template check finds of it.

A seed is found if a code is found at a path more often than in its base. A variant must find no code more often than
its base, wherever.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.deep.template_defects.templates import (
    HERE,
    Found,
    Template,
    base,
    edited,
    findings,
    names,
    parse,
    path_of,
    problems,
    region,
)


@dataclass(frozen=True, eq=False)
class Seed:
    """One mistake.

    Attributes:
        id: Name of the mistake, unique.
        kind: What it belongs to.
        base: Template that it is an edit of.
        edit: Operations, see `edited`.
        wrong: What goes wrong on AWS.
        source: Key in sources.yaml.
        about: Logical IDs, one of which a right finding names.
    """

    id: str
    kind: str
    base: str
    edit: list[list[Any]]
    wrong: str
    source: str
    about: list[str]

    def template(self) -> Template:
        """Return the base with the mistake."""
        return edited(base(self.base), self.edit)


@dataclass(frozen=True, eq=False)
class Variant:
    """An equivalent form of a base."""

    id: str
    base: str
    edit: list[list[Any]]

    def template(self) -> Template:
        """Return the base in this form."""
        return edited(base(self.base), self.edit)


@cache
def seeds() -> tuple[Seed, ...]:
    """Return all seeds."""
    table = parse((HERE / "seeds.yaml").read_text())
    return tuple(Seed(kind=kind, **row) for kind, rows in table.items() for row in rows)


@cache
def variants() -> tuple[Variant, ...]:
    """Return all variants."""
    return tuple(Variant(**row) for row in parse((HERE / "variants.yaml").read_text()))


@cache
def sources() -> dict[str, str]:
    """Return where the sentences come from, by key."""
    result: dict[str, str] = parse((HERE / "sources.yaml").read_text())
    return result


@cache
def verdicts() -> dict[str, str]:
    """Return the verdict on each kind of finding in bases and public templates: ``right, …`` or ``wrong, …``."""
    result: dict[str, str] = parse((HERE / "verdicts.yaml").read_text())
    return result


def judged(template: Template, where: str | None) -> Iterator[tuple[str, str]]:
    """Yield kind and verdict of each finding in a sound template; the verdict is empty where there is none."""
    for code, place in problems(template, where):
        kind = f"{code} {place.resource.type} {path_of(place)}"
        yield kind, verdicts().get(kind, "")


@cache
def _before(name: str) -> Found:
    return findings(base(name), region(name))


@cache
def found(seed: Seed) -> Found:
    """Return what is found of a seed and not in its base."""
    return findings(seed.template(), region(seed.base)) - _before(seed.base)


def newly_found(variant: Variant) -> Counter[str]:
    """Return the codes that are found more often in a variant than in its base."""
    after = findings(variant.template(), region(variant.base))
    return _by_code(after) - _by_code(_before(variant.base))


def _by_code(some: Found) -> Counter[str]:
    result: Counter[str] = Counter()
    for (code, _), count in some.items():
        result[code] += count
    return result


def rates() -> dict[str, tuple[int, int]]:
    """Return the numbers of seeds and of those that are found, by kind and of all."""
    result: dict[str, tuple[int, int]] = {}
    for kind in [*dict.fromkeys(seed.kind for seed in seeds()), "all"]:
        hits = [bool(found(seed)) for seed in seeds() if kind in (seed.kind, "all")]
        result[kind] = (len(hits), sum(hits))
    return result


def report() -> str:
    """Return the rates by kind, and what is found in variants and bases, as text."""
    lines = [f"{'kind':<16}{'seeds':>8}{'found':>8}{'share':>8}"]
    lines += [f"{kind:<16}{all_:>8}{hits:>8}{hits / all_:>8.0%}" for kind, (all_, hits) in rates().items()]
    at_fault = sum(any(path.split(".")[0] in seed.about for _, path in found(seed)) for seed in seeds())
    lines.append(f"found at a resource that is at fault: {at_fault}")
    changed = sum(bool(newly_found(variant)) for variant in variants())
    lines.append(
        f"variants: {len(variants())}, with new findings: {changed} ({changed / len(variants()):.1%})"
    )
    told = [verdict for name in names() for _, verdict in judged(base(name), region(name))]
    counted = Counter(verdict.split(",")[0] or "not judged" for verdict in told)
    lines.append(f"sound bases: {len(names())}, with {len(told)} findings: {dict(counted)}")
    return "\n".join(lines) + "\n"


def missed() -> list[str]:
    """Return a line for each seed of which nothing is found."""
    return [f"missed: {seed.kind} {seed.id}: {seed.wrong}" for seed in seeds() if not found(seed)]
