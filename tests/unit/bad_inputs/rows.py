"""Rollout files, and how `ultracluster validate` reacts to them: bad inputs of the catalogue, and both sides of rules."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml
from tests.unit.stacks.config.conftest import VALID
from tests.unit.stacks.config.machine_edits import OWN_TYPE, TYPE_LINE

CLUSTER = "waves[0].clusters[0]"
"""Place of the one cluster of the valid rollout, which reactions write as @."""

ON_DEMAND = (
    "          market_type: capacity-block\n          reservation_id: cr-0123456789abcdef0\n",
    "          market_type: on-demand\n",
)

BLOCK = """capacity-block
          reservation_id: cr-0123456789abcdef0
          start: "2026-12-01T12:00:00Z"
          end: "2026-12-04T11:30:00Z\""""

JOBS = VALID.partition("        jobs:\n")[2].partition("        notify:")[0]
JOB = 'image: "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:1", command: [x.py]'


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """An input.

    Attributes:
        name: Number of its row in the catalogue, 1 to 93, and the input in words; or the subject and the code of its rule.
        text: The rollout file.
        exit_code: How the command ends.
        reaction: Every finding in the order of the output: code, line and place.
        says: Words of the output.
    """

    name: str
    text: str
    exit_code: int
    reaction: tuple[str, ...]
    says: str = ""

    def __str__(self) -> str:
        return self.name

    @classmethod
    def of(cls, row: dict[str, Any], name: str) -> Self:
        """Make an input of a row of a file."""
        return cls(
            name=name,
            text=row.get("file", edited(row.get("edits", [])) + row.get("append", "")),
            exit_code=2 if "refused" in row else 0,
            reaction=tuple(row.get("refused", row.get("taken"))),
            says=row.get("says", ""),
        )


def edited(edits: list[Any]) -> str:  # noqa: C901 - one case for each kind of edit
    """Return the valid rollout with edits."""
    text = VALID
    for edit in edits:
        match edit:
            case {"cluster": lines}:
                old, new = "        nodes: 4\n", f"        nodes: 4\n        {lines}\n"
            case {"capacity": line}:
                old, new = "market_type: capacity-block\n", f"market_type: capacity-block\n          {line}\n"
            case {"job": line}:
                old, new = "image: 1", f"{line}\n            image: 1"
            case {"jobs": jobs}:
                old, new = (
                    JOBS,
                    "".join(f"          - {{name: {name}, {JOB}{more}}}\n" for name, more in jobs.items()),
                )
            case {"network": settings}:
                old, new = "{cidr: 10.0.0.0/16}", settings
            case {"file_system": settings}:
                old, new = "{storage_capacity_gib: 4800, per_unit_storage_throughput: 250}", settings
            case {"market": lines}:
                old, new = BLOCK, lines
            case "own-type":
                old, new = TYPE_LINE, OWN_TYPE
            case "on-demand":
                old, new = ON_DEMAND
            case _:
                old, new = edit
        if old not in text:
            raise ValueError(f"{old!r} is not in the rollout")
        text = text.replace(old, new, 1)
    return text


def _read(name: str) -> Any:
    return yaml.safe_load(Path(__file__).with_name(name).read_text("utf-8"))


ROWS = [
    *(Row.of(row, f"row {row['row']}: {row['what']}") for row in _read("rows.yaml")),
    *(
        Row.of(row, f"{subject}: {row.get('keeps') or row.get('refused', row.get('taken'))[0]}")
        for subject, rows in _read("rules.yaml").items()
        for row in rows
    ),
]
