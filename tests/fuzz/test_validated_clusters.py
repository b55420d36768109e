"""What `ultracluster validate` takes in a rollout file, the template check takes in the templates that it becomes."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.test_fuzz import write
from tests.fuzz.valid_rollouts import clusters_with_jobs, drawn

from ultracluster_checks import Source, check_templates
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_spec.findings import Finding
from ultracluster_spec.job import NamedJob
from ultracluster_spec.values import annotations, default_of
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis import in_process

pytestmark = pytest.mark.slow

_IN_ONE_APP = 20
_LEAST_OF_EACH_FIELD = 20
# The user asked for it (removal_policy: destroy).
_ASKED_FOR = "UC5201"
_REQUIRED = {"name", "image", "command"}


def errors(chosen: Sequence[dict[str, Any]], folder: Path) -> Iterator[str]:
    """The errors of the template check in the templates of clusters that a rollout file may have."""
    for first in range(0, len(chosen), _IN_ONE_APP):
        path, assembly = folder / f"rollout{first}.yaml", folder / f"cdk{first}.out"
        write(path, list(chosen[first : first + _IN_ONE_APP]))
        in_process.synthesize(load_rollout(path).config.clusters(), assembly)
        sources: dict[str, list[Source]] = {}
        for stack in assembled_stacks(assembly):
            source = Source(name=stack.name, body=stack.template, region=stack.region or None)
            sources.setdefault(stack.cluster, []).append(source)
        for each in sources.values():
            yield from map(str, filter(_counts, check_templates(each).errors))


def _counts(finding: Finding) -> bool:
    return finding.code != _ASKED_FOR


def used(chosen: Sequence[dict[str, Any]]) -> Counter[str]:
    """How many jobs have each of their fields away from its default."""
    return Counter(
        name
        for cluster in chosen
        for job in cluster["jobs"]
        for name, value in job.items()
        if name in _REQUIRED or value != default_of(NamedJob, name)
    )


@pytest.mark.parametrize("count", [40, pytest.param(2_000, marks=pytest.mark.deep)])
def test_what_validate_takes_has_no_error_in_its_template(count: int, tmp_path: Path) -> None:
    seed = int(os.environ.get("UC_FUZZ_SEED") or 0)
    chosen = drawn(count, by=seed, of=clusters_with_jobs())
    fields = used(chosen)
    sys.stderr.write(f"seed {seed}: {len(chosen)} clusters with jobs that set {dict(fields)}\n")

    assert len(chosen) > count / 2
    assert [*errors(chosen, tmp_path)] == []
    lacking = {name for name in annotations(NamedJob) if fields[name] < _LEAST_OF_EACH_FIELD}
    assert count < _LEAST_OF_EACH_FIELD * len(annotations(NamedJob)) or lacking == set()
