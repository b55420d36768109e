"""What a layout of very many chips is computed from and is not known: each with what it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Final

__all__ = ["ASSUMPTION_BASES", "Assumptions", "Basis"]

_H100_RUN: Final = 419 / (54 * 16_384)


@dataclass(frozen=True, kw_only=True, slots=True)
class Assumptions:
    """Figures that no catalogue has. Replace them by what you measure.

    Attributes:
        failures_per_chip_day: Failures of a node that end its job, for each chip and day.
        checkpoint_minutes: Minutes of work between two checkpoints.
        detect_minutes: Minutes from a failure to the end of the job.
        restart_minutes: Minutes from the end of a job until the next attempt trains.
        replace_minutes: Minutes until a failed node is replaced inside its block.
        block_days: Days that a block lasts.
        storage_gib: GiB of each cluster's file system.
        storage_mb_per_s_per_tib: Throughput tier of it, in MB/s for each TiB.
        queues_per_cluster: Queues of a cluster, each over an environment of its own.
        deploy_minutes: Minutes until the stacks of a cluster are there, longest.
        deploy_failure_percent: Deployments of 100 that fail once and are repeated.
        repair_minutes: Minutes until the cause of a failed deployment is removed.
        parallel_deployments: Clusters of an account that are deployed at the same time.
        bake_minutes: Minutes of quiet after a wave.
        boot_minutes: Minutes from the launch of a node until it takes work.
    """

    failures_per_chip_day: float = _H100_RUN
    checkpoint_minutes: float = 30.0
    detect_minutes: float = 5.0
    restart_minutes: float = 10.0
    replace_minutes: float = 15.0
    block_days: int = 28
    storage_gib: int = 9600
    storage_mb_per_s_per_tib: int = 250
    queues_per_cluster: int = 2
    deploy_minutes: float = 40.0
    deploy_failure_percent: float = 5.0
    repair_minutes: float = 120.0
    parallel_deployments: int = 10
    bake_minutes: float = 60.0
    boot_minutes: float = 10.0

    def __post_init__(self) -> None:
        for field in fields(self):
            least, most = ASSUMPTION_BASES[field.name].bounds
            value = getattr(self, field.name)
            if not least <= value <= most:  # also refuses nan
                unit = ASSUMPTION_BASES[field.name].unit
                raise ValueError(f"{field.name} is {value}, and must be {least:,g} to {most:,g} {unit}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Basis:
    """What one assumption rests on.

    Attributes:
        unit: Its unit.
        basis: A source with its date, or how it was chosen.
        bounds: The least and the most that it can be.
    """

    unit: str
    basis: str
    bounds: tuple[float, float]


def _basis(unit: str, basis: str, *bounds: float) -> Basis:
    return Basis(unit=unit, basis=basis, bounds=(bounds[0], bounds[1]))


ASSUMPTION_BASES: Final[Mapping[str, Basis]] = MappingProxyType(
    {
        "failures_per_chip_day": _basis(
            "failures per chip and day",
            "419 unexpected interruptions in 54 days on 16,384 H100 (The Llama 3 Herd of Models, arXiv 2407.21783, "
            "July 2024). No figure for Trainium is public.",
            0,
            1,
        ),
        "checkpoint_minutes": _basis("minutes", "chosen; depends on the model and the file system", 1, 1440),
        "detect_minutes": _basis(
            "minutes", "chosen; collectives time out, and then the main node ends the job", 0, 1440
        ),
        "restart_minutes": _basis(
            "minutes",
            "chosen; containers start, the checkpoint is read, and graphs come from the cache",
            0,
            1440,
        ),
        "replace_minutes": _basis(
            "minutes",
            "chosen; AWS says that capacity returns to a block within minutes (EC2 User Guide, 2026-09)",
            0,
            1440,
        ),
        "block_days": _basis("days", "chosen; blocks are sold for 1 to 182 days", 1, 182),
        "storage_gib": _basis("GiB", "chosen; 9,600 GiB are four object servers", 1200, 2_000_000),
        "storage_mb_per_s_per_tib": _basis("MB/s per TiB", "the default of `SharedFileSystem`", 125, 1000),
        "queues_per_cluster": _basis(
            "queues", "the cluster's own queue, and the queue of precompile jobs on a small node", 1, 50
        ),
        "deploy_minutes": _basis("minutes", "chosen; the file system takes longest", 1, 1440),
        "deploy_failure_percent": _basis("percent", "chosen", 0, 100),
        "repair_minutes": _basis("minutes", "chosen; a person investigates and repairs", 0, 14_400),
        "parallel_deployments": _basis(
            "clusters", "chosen; each deployment is one CDK CLI with three stacks in sequence", 1, 1000
        ),
        "bake_minutes": _basis("minutes", "chosen", 0, 14_400),
        "boot_minutes": _basis("minutes", "chosen; boot, device checks, and joining the queue", 0, 1440),
    }
)
"""What each field of `Assumptions` rests on, and its bounds."""
