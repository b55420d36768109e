"""What `ultracluster validate` takes in a rollout file, the template check takes in the templates that it becomes."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.test_fuzz import write
from tests.fuzz.valid_rollouts import clusters_with_jobs, drawn

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.job import NamedJob
from ultracluster_spec.values import annotations, default_of
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis import in_process

pytestmark = pytest.mark.slow

_IN_ONE_APP = 20
_LEAST_OF_EACH_FIELD = 20
_REQUIRED = {"name", "image", "command"}
_KINDS = (CAPACITY_BLOCK, "on-demand", "spot"), ("torchrun", "jax", "raw"), ("new", "none", "existing")
_PAIRS = {pair for first, second in combinations(_KINDS, 2) for pair in product(first, second)}


def errors(chosen: Sequence[dict[str, Any]], folder: Path) -> Iterator[str]:
    """The errors with which the synthesis of clusters ends that a rollout file may have."""
    for first in range(0, len(chosen), _IN_ONE_APP):
        path = folder / f"rollout{first}.yaml"
        write(path, list(chosen[first : first + _IN_ONE_APP]))
        taken = load_rollout(path).config.clusters()
        try:
            in_process.synthesize(taken, folder / f"cdk{first}.out")
        except FindingsError as refused:
            yield from map(str, refused.findings)


def used(chosen: Sequence[dict[str, Any]]) -> Counter[str]:
    """How many jobs have each of their fields away from its default."""
    return Counter(
        name
        for cluster in chosen
        for job in cluster["jobs"]
        for name, value in job.items()
        if name in _REQUIRED or value != default_of(NamedJob, name)
    )


def pairs(chosen: Sequence[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """How many jobs have each pair of a capacity, a launcher and a kind of file system."""
    counted: Counter[tuple[str, str]] = Counter()
    for cluster in chosen:
        system = cluster.get("file_system", {})
        kind = "existing" if "file_system_id" in system else "none" if system == "none" else "new"
        capacity = cluster["capacity"].get("market_type", CAPACITY_BLOCK)
        for job in cluster["jobs"]:
            counted.update(combinations((capacity, job.get("launcher", "torchrun"), kind), 2))
    return counted


@pytest.mark.parametrize("count", [100, pytest.param(2_000, marks=pytest.mark.deep)])
def test_what_validate_takes_has_no_error_in_its_template(count: int, tmp_path: Path) -> None:
    seed = int(os.environ.get("UC_FUZZ_SEED") or 0)
    chosen = drawn(count, by=seed, of=clusters_with_jobs())
    fields, combined = used(chosen), pairs(chosen)
    sys.stderr.write(
        f"seed {seed}: {len(chosen)} clusters with jobs that set {dict(fields)}, {dict(combined)}\n"
    )

    assert len(chosen) > count / 2
    assert [*errors(chosen, tmp_path)] == []
    if count >= _LEAST_OF_EACH_FIELD * len(annotations(NamedJob)):
        assert {name for name in annotations(NamedJob) if fields[name] < _LEAST_OF_EACH_FIELD} == set()
        assert _PAIRS - {*combined} == set()
