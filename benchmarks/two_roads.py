"""Minutes of a Capacity Block lost on each road into it: nodes that AWS Batch starts, and nodes of an Auto Scaling group.

Both roads live the same block with the same draws: `cd benchmarks && python two_roads.py` prints the table of docs/evidence/two-roads.md.
Nothing here was measured in an account. Figures without a source are chosen, the same for both roads, and say so.
"""

import argparse
import random
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from scale.assumptions import Assumptions

_SHARED: Final = Assumptions()


@dataclass(frozen=True)
class Figures:
    """Minutes, as the lowest and highest value of an even distribution."""

    wake: tuple[float, float] = (0, 1)  # the life cycle runs every minute
    enable: tuple[float, float] = (0.2, 1)  # chosen: an environment is UPDATING
    batch_launch: tuple[float, float] = (1, 3)  # chosen: AWS Batch sees a job and asks for nodes
    group_launch: tuple[float, float] = (0.2, 1)  # chosen: an Auto Scaling group sees its desired capacity
    group_check: tuple[float, float] = (1, 3)  # chosen: it sees that a node is gone
    boot: tuple[float, float] = (_SHARED.boot_minutes * 0.7, _SHARED.boot_minutes * 1.3)
    pull: tuple[float, float] = (4, 8)  # chosen: tens of GB; a node keeps the image for a week
    place: tuple[float, float] = (0.1, 0.5)  # chosen: AWS Batch places a job on nodes that are there
    meet: tuple[float, float] = (0.1, 0.4)  # two looks at the place of the rendezvous, each 5 s, and a roster
    slot: tuple[float, float] = (
        _SHARED.replace_minutes * 0.4,
        _SHARED.replace_minutes * 1.6,
    )  # back in the block
    detect_batch: tuple[float, float] = (3, 4)  # UC_LOST_SECONDS of the launcher, and the end of the job
    detect_group: tuple[float, float] = (1, 1.5)  # lease of the rendezvous, and the end of the children
    drain: tuple[float, float] = (40, 40)  # before the end of the block


class Draws:
    """Figures of one life; both roads get the same."""

    def __init__(self, seed: int, figures: Figures, nodes: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - chance that can be repeated
        self.one = {field.name: chance.uniform(*getattr(figures, field.name)) for field in fields(figures)}
        self.all_boot = max(chance.uniform(*figures.boot) for _ in range(nodes))
        self.all_pull = max(chance.uniform(*figures.pull) for _ in range(nodes))


Road = Callable[[Mapping[str, float], Draws], float]


def _batch_start(one: Mapping[str, float], draws: Draws) -> float:
    return one["wake"] + one["enable"] + one["batch_launch"] + draws.all_boot + draws.all_pull


def _group_start(one: Mapping[str, float], draws: Draws) -> float:
    return one["wake"] + one["group_launch"] + draws.all_boot + _group_first_job(one, draws)


def _batch_first_job(one: Mapping[str, float], draws: Draws) -> float:
    return one["batch_launch"] + draws.all_boot + draws.all_pull


def _group_first_job(one: Mapping[str, float], draws: Draws) -> float:
    return one["place"] + draws.all_pull + one["meet"]


def _replace_one(one: Mapping[str, float]) -> float:
    return one["slot"] + one["boot"] + one["pull"]


CASES: Final[Mapping[str, tuple[Road, Road]]] = {
    "jobs wait when the block starts": (_batch_start, _group_start),
    "the first job comes hours after the start": (_batch_first_job, _group_first_job),
    "gap between two jobs, up to a day": (
        lambda one, _: one["place"],
        lambda one, _: one["place"] + one["meet"],
    ),
    "gap between two jobs, longer than a day": (
        _batch_first_job,
        lambda one, _: one["place"] + one["meet"],
    ),
    "a node is lost under a job": (
        lambda one, _: (
            max(one["detect_batch"] + one["batch_launch"], one["slot"]) + one["boot"] + one["pull"]
        ),
        lambda one, _: (
            max(one["detect_group"], one["group_check"] + one["group_launch"], one["slot"])
            + one["boot"]
            + one["pull"]
            + one["meet"]
        ),
    ),
    "a node is lost between two jobs, a day before the next": (
        lambda one, _: one["batch_launch"] + one["boot"] + one["pull"],
        lambda one, _: one["place"] + one["pull"] + one["meet"],
    ),
    "a node refuses at the start": (
        lambda one, draws: _batch_start(one, draws) + one["batch_launch"] + _replace_one(one),
        lambda one, draws: _group_start(one, draws) + one["group_check"] + _replace_one(one),
    ),
    "drain": (lambda one, _: one["drain"], lambda one, _: one["drain"]),
}
"""Minutes in which the nodes of a job wait, by case: AWS Batch, Auto Scaling."""


def table(*, lives: int, nodes: int, figures: Figures | None = None) -> str:
    """Return the median and the 95th percentile of each case as a table in Markdown."""
    draws = [Draws(seed, figures or Figures(), nodes) for seed in range(lives)]
    lines = [
        "| minutes lost | AWS Batch: median | 95 % | Auto Scaling: median | 95 % |",
        "|---|---|---|---|---|",
    ]
    for name, roads in CASES.items():
        cells = []
        for road in roads:
            minutes = sorted(road(draw.one, draw) for draw in draws)
            cells += [statistics.median(minutes), minutes[int(0.95 * (lives - 1))]]
        lines.append(f"| {name} | {' | '.join(f'{cell:.1f}' for cell in cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=16)
    given = parser.parse_args()
    sys.stdout.write(table(lives=given.lives, nodes=given.nodes))


if __name__ == "__main__":
    main()
