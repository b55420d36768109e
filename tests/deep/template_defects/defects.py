"""The tables of defects: an edit of a sound template, and what then goes wrong on AWS."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.deep.template_defects.templates import BLIND_SETS, HERE, Application, base, edited, parse


@dataclass(frozen=True, eq=False)
class Defect:
    """One row of a table.

    Attributes:
        id: Name of the defect, unique among all tables.
        kind: What it belongs to: the name of its table.
        base: Template that it is an edit of.
        edit: Operations, see `edited`.
        wrong: What goes wrong on AWS.
        source: Key in sources.yaml.
        about: Logical IDs, one of which a correct finding names. Empty if not recorded.
    """

    id: str
    kind: str
    base: str
    edit: tuple[tuple[Any, ...], ...]
    wrong: str
    source: str
    about: tuple[str, ...] = ()

    def application(self) -> Application:
        """Return the base with the defect."""
        return edited(base(self.base), self.edit)


@cache
def defects() -> tuple[Defect, ...]:
    """Return the defects of all tables."""
    return tuple(
        Defect(kind=path.stem, **(row | {"edit": tuple(map(tuple, row["edit"]))}))
        for path in sorted((HERE / "tables").glob("*.yaml"))
        for row in parse(path.read_text())
    )


@cache
def second_defects() -> tuple[Defect, ...]:
    """Return the defects that were written later, see second.yaml."""
    rows = parse((HERE / "second.yaml").read_text())
    return tuple(Defect(**(row | {"edit": tuple(map(tuple, row["edit"]))})) for row in rows)


@cache
def blind_defects(*blind: str) -> tuple[Defect, ...]:
    """Return the defects of some of `BLIND_SETS`, by default of all."""
    return tuple(
        Defect(
            kind=path.stem,
            **(row | {"edit": tuple(map(tuple, row["edit"])), "about": tuple(row["about"])}),
        )
        for name in blind or BLIND_SETS
        for path in sorted((HERE / name / "tables").glob("*.yaml"))
        for row in parse(path.read_text())
    )


@cache
def blind_sources(blind: str) -> dict[str, str]:
    """Return the sources that only one of `BLIND_SETS` has."""
    result: dict[str, str] = parse((HERE / blind / "sources.yaml").read_text())
    return result


@cache
def sources() -> dict[str, str]:
    """Return where the sentences come from, by key."""
    result: dict[str, str] = parse((HERE / "sources.yaml").read_text())
    return result
