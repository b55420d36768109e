"""Examples of rules, by code: one that breaks the rule, and its nearest neighbour, which keeps it.

``rollout`` has keys of a cluster, or a whole file; ``python`` code with the names of `ultracluster` and a ``stack``; ``template``
resources. A neighbour of one line is the example of the record, which `ultracluster docs CODE` shows.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ultracluster_cli.records import ALL_RECORDS

Kind = Literal["rollout", "python", "template"]


@dataclass(frozen=True, slots=True)
class Example:
    fails: str
    passes: str


def _examples(kind: Kind) -> dict[str, Example]:
    rows = tomllib.loads(Path(__file__).with_name(f"{kind}.toml").read_text(encoding="utf-8"))
    return {
        code: Example(row["fails"], row["passes"] if "passes" in row else ALL_RECORDS[code].example)
        for code, row in rows.items()
    }


EXAMPLES: Final[dict[Kind, dict[str, Example]]] = {
    "rollout": _examples("rollout"),
    "python": _examples("python"),
    "template": _examples("template"),
}
