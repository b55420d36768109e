"""Old assemblies are removed, except those that --resume or --rollback can need."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.unit.cli.rollout.plans import planned_cluster, planned_stack, rollout_plan

from ultracluster_cli.rollout.history import (
    JOURNAL,
    Run,
    earlier_deployment,
    new_run_folder,
    prune_assemblies,
    runs_of,
)
from ultracluster_runtime.rollout.decide import Entry, Kind
from ultracluster_runtime.rollout.journal import open_journal
from ultracluster_runtime.rollout.plan import DEPLOY


def begin(
    rollouts: Path, number: int, clusters: Sequence[str], *, deploys: bool = True, assembly: str = ""
) -> Run:
    """Begin a rollout that plans clusters, and deploys them unless it is given up before."""
    folder = rollouts / f"run-{number:02}"
    (folder / "assembly").mkdir(parents=True)
    plan = rollout_plan(
        *(
            planned_cluster(
                name,
                assembly=assembly or f"{folder.name}/assembly",
                stacks=(planned_stack(name, before=str(number - 1), after=str(number)),),
            )
            for name in clusters
        ),
        file="/rollout.yaml",
    )
    journal = open_journal(folder / JOURNAL, plan, at="")
    for name in clusters if deploys else ():
        journal.append(Entry(kind=Kind.BEGUN, cluster=name, step=DEPLOY))
    return Run(folder=folder, journal=journal)


def kept(rollouts: Path) -> list[int]:
    return [int(path.parent.name[4:]) for path in sorted(rollouts.glob("*/assembly"))]


def test_each_cluster_keeps_the_assemblies_of_its_last_five_deployments(tmp_path: Path) -> None:
    runs = [begin(tmp_path, 0, ["seldom", "often"]), *(begin(tmp_path, n, ["often"]) for n in range(1, 9))]

    prune_assemblies(tmp_path, runs)

    assert kept(tmp_path) == [0, 4, 5, 6, 7, 8]
    assert [run.folder for run in runs_of(tmp_path, Path("/rollout.yaml"))] == [run.folder for run in runs]


def test_a_rollout_that_deployed_nothing_takes_no_place_unless_it_is_the_last(tmp_path: Path) -> None:
    runs = [begin(tmp_path, n, ["one"], deploys=n not in {3, 7}) for n in range(8)]

    prune_assemblies(tmp_path, runs)

    assert kept(tmp_path) == [2, 4, 5, 6, 7]


def test_a_rollback_counts_as_a_new_deployment(tmp_path: Path) -> None:
    runs = [begin(tmp_path, n, ["one"]) for n in range(7)]
    runs.append(begin(tmp_path, 7, ["one"], assembly="run-00/assembly"))
    (tmp_path / "run-07" / "assembly").rmdir()

    prune_assemblies(tmp_path, runs)

    assert kept(tmp_path) == [0, 3, 4, 5, 6]


@pytest.mark.parametrize(("before", "there"), [("3", True), ("2", False)])
def test_a_wave_rolls_back_only_to_a_stored_assembly(tmp_path: Path, before: str, there: bool) -> None:
    runs = [begin(tmp_path, n, ["one"]) for n in range(8)]
    prune_assemblies(tmp_path, runs)
    wanted = planned_cluster("one", stacks=(planned_stack("one", before=before),))

    assert (earlier_deployment(runs, wanted) is not None) is there


def test_a_later_rollout_sorts_later_although_the_clock_was_set_back(tmp_path: Path) -> None:
    first = new_run_folder(tmp_path, datetime(2026, 11, 21, tzinfo=UTC))
    first.mkdir()
    second = new_run_folder(tmp_path, datetime(2020, 1, 1, tzinfo=UTC))
    second.mkdir()
    third = new_run_folder(tmp_path, datetime(2026, 11, 22, tzinfo=UTC))

    assert sorted([third.name, second.name, first.name]) == [first.name, second.name, third.name]
