"""How many processes share the work."""

import pickle
import sys
from pathlib import Path

import pytest

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.assembly.workers import processes_for, synthesize_in_processes

GIB = 1024**3


@pytest.mark.parametrize(
    ("clusters", "cores", "free_gib", "processes"),
    [
        (0, 8, 64, 1),
        (15, 8, 64, 1),
        (16, 8, 64, 2),
        (90, 8, 64, 8),
        (90, 2, 64, 2),
        (90, 8, 2, 2),
        (90, 8, 0, 1),
    ],
)
def test_as_many_as_work_cores_and_memory_are_worth(
    clusters: int, cores: int, free_gib: int, processes: int
) -> None:
    assert processes_for(clusters, cores=cores, free_memory=free_gib * GIB) == processes


def test_asks_this_machine() -> None:
    assert processes_for(1000) >= 1


@pytest.mark.slow
def test_says_whose_process_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")

    with pytest.raises(FindingsError, match="error: a process that synthesizes quickstart failed"):
        synthesize_in_processes(_clusters(quickstart), tmp_path, processes=1)


@pytest.mark.slow
def test_what_a_process_finds_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path
) -> None:
    worker = tmp_path / "worker"
    finding = pickle.dumps([Finding("UC5201", "lost", location="quickstart-us-east-2/Lost")])
    worker.write_text(f"#!{sys.executable}\nimport os\nos.write(1, {finding!r})\nraise SystemExit(2)\n")
    worker.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(worker))

    with pytest.raises(FindingsError, match=r"^UC5201: quickstart-us-east-2/Lost: lost\.$"):
        synthesize_in_processes(_clusters(quickstart), tmp_path, processes=1)


@pytest.mark.slow
def test_a_process_that_succeeds_is_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")

    assert synthesize_in_processes(_clusters(quickstart), tmp_path, processes=1) == [tmp_path / "0"]


@pytest.fixture
def quickstart() -> Path:
    return Path(__file__).parents[5] / "stacks/rollouts/quickstart.yaml"


def _clusters(rollout: Path) -> list[Cluster]:
    return load_rollout(rollout).config.clusters()
