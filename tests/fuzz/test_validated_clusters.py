"""What `ultracluster validate` takes in a rollout file, the template check takes in the templates that it becomes."""

import itertools
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.fuzz.test_fuzz import write
from tests.fuzz.valid_rollouts import clusters_with_jobs, drawn

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.values import Value, annotations, default_of
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis import in_process

pytestmark = pytest.mark.slow

_IN_ONE_APP = 20
_LEAST_OF_EACH_FIELD = 20
_ENOUGH_FOR_EACH_FIELD = 2_000
_KINDS = (CAPACITY_BLOCK, "on-demand", "spot"), ("torchrun", "jax", "raw"), ("new", "none", "existing")
_PAIRS = {pair for first, second in combinations(_KINDS, 2) for pair in product(first, second)}


def drawn_until(count: int, seed: int) -> Iterator[list[dict[str, Any]]]:
    """Clusters for one app after the other, until there are so many."""
    for batch in itertools.count():
        if count <= 0:
            return
        chosen = drawn(_IN_ONE_APP, by=1_000 * seed + batch, of=clusters_with_jobs())[:count]
        yield chosen
        count -= len(chosen)


def errors(chosen: Sequence[dict[str, Any]], folder: Path) -> Iterator[str]:
    """The errors with which the synthesis of clusters ends that a rollout file may have."""
    path, taken = folder / "rollout.yaml", []
    for number, each in enumerate(chosen):
        write(path, [each], first=number)
        taken += load_rollout(path).config.clusters()
    try:
        in_process.synthesize(taken, folder / "cdk.out")
    except FindingsError as refused:
        yield from map(str, refused.findings)


def fields(part: type[Value], above: str = "") -> Iterator[str]:
    """The ways to all fields of a value and of the values in it."""
    for name, annotation in annotations(part).items():
        yield f"{above}{name}"
        for inner in _values_in(annotation):
            yield from fields(inner, f"{above}{name}.")


def used(part: type[Value], written: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The ways to the fields that something written has away from their defaults."""
    for name, given in written.items():
        if given != default_of(part, name):
            yield f"{above}{name}"
        for inner in _values_in(annotations(part)[name]):
            for each in given if isinstance(given, list) else [given]:
                if isinstance(each, dict) and each.keys() <= annotations(inner).keys():
                    yield from used(inner, each, f"{above}{name}.")


def _values_in(annotation: Any) -> list[type[Value]]:
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return [annotation]
    return list(dict.fromkeys(each for part in get_args(annotation) for each in _values_in(part)))


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


@pytest.mark.parametrize("count", [40, pytest.param(2_000, marks=pytest.mark.deep)])
def test_what_validate_takes_has_no_error_in_its_template(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The CDK's own validation of templates takes two thirds of a synthesis, and is about other rules.
    monkeypatch.setenv("CDK_VALIDATION", "false")
    seed = int(os.environ.get("UC_FUZZ_SEED") or 0)
    found: list[str] = []
    of_fields, combined = Counter[str](), Counter[tuple[str, str]]()
    for number, chosen in enumerate(drawn_until(count, seed)):
        for cluster in chosen:
            of_fields.update(set(used(Cluster, cluster)))
        combined += pairs(chosen)
        (tmp_path / str(number)).mkdir()
        refused = [*errors(chosen, tmp_path / str(number))]
        found += refused
        if refused:  # what is drawn depends on the modules that are loaded, not on the seed alone
            sys.stderr.write(f"{json.dumps(chosen)}\n")
        shutil.rmtree(tmp_path / str(number))
        sys.stderr.write(f"seed {seed}, app {number}: {len(chosen)} clusters, {len(found)} errors\n")
    sys.stderr.write(f"fields away from their defaults: {dict(of_fields)}\npairs: {dict(combined)}\n")

    assert found == []
    if count >= _ENOUGH_FOR_EACH_FIELD:
        assert {name for name in fields(Cluster) if of_fields[name] < _LEAST_OF_EACH_FIELD} == set()
        assert _PAIRS - {*combined} == set()
