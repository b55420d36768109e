"""Bad inputs of the catalogue, and how `ultracluster validate` reacts to them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml
from tests.unit.stacks.config.conftest import VALID

CLUSTER = "waves[0].clusters[0]"
"""Place of the one cluster of the valid rollout, which reactions write as @."""

ON_DEMAND = (
    "          market_type: capacity-block\n          reservation_id: cr-0123456789abcdef0\n",
    "          market_type: on-demand\n",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """An input.

    Attributes:
        number: Number of its row in the catalogue, 1 to 92.
        what: The input in words.
        text: The rollout file.
        exit_code: How the command ends.
        reaction: Every finding in the order of the output: code, line and place.
    """

    number: int
    what: str
    text: str
    exit_code: int
    reaction: tuple[str, ...]

    def __str__(self) -> str:
        return f"row {self.number}: {self.what}"

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        """Make an input of a row of the file."""
        return cls(
            number=row["row"],
            what=row["what"],
            text=row.get("file", edited(row.get("edits", [])) + row.get("append", "")),
            exit_code=2 if "refused" in row else 0,
            reaction=tuple(row.get("refused", row.get("taken"))),
        )


def edited(edits: list[Any]) -> str:
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
            case "on-demand":
                old, new = ON_DEMAND
            case _:
                old, new = edit
        if old not in text:
            raise ValueError(f"{old!r} is not in the rollout")
        text = text.replace(old, new, 1)
    return text


ROWS = [Row.of(row) for row in yaml.safe_load(Path(__file__).with_name("rows.yaml").read_text("utf-8"))]
