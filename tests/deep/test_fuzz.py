"""Fuzzing in large. UC_FUZZ_SEED chooses the files and clusters; without it each run has its own, which the table shows."""

import json
import os
import resource
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.bare_environment import bare_environment
from tests.fuzz.many import judged, sources
from tests.fuzz.mutations import damaged
from tests.fuzz.test_fuzz import linted, needs_nothing, synthesize
from tests.fuzz.valid_rollouts import drawn, seed_images

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, read_assembly

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("UC_FUZZ_SEED") or secrets.randbelow(10**6))

FILES = 10_000
PROCESSES = 30
CLUSTERS = 300
IN_ONE_APP = 50
DEPLOYED = 20

MOST_SECONDS = 60
MOST_SECONDS_EACH = 2
MOST_MIB = 300

Tried = Callable[[str, str], None]


def test_ten_thousand_damaged_files(tmp_path: Path, tried: Tried) -> None:
    command = [sys.executable, str(ROOT / "tests/fuzz/many.py"), str(SEED), str(FILES), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=bare_environment())
    done = json.loads(ended.stdout)
    ends = done["ends"]
    tried(
        "fuzz",
        f"{FILES:,} damaged files, seed {SEED}: {ends['2']:,} refused, {ends['0']} taken, {done['seconds']:.0f} CPU s, "
        f"{done['mib']:.0f} MiB, slowest {done['slowest']:.2f} s",
    )

    assert done["failures"] == []
    assert set(ends) == {"0", "2"}
    assert done["written"] == ["rollout.yaml"]
    assert done["seconds"] < MOST_SECONDS
    assert done["mib"] < MOST_MIB


def test_damaged_files_in_separate_processes(tmp_path: Path, tried: Tried) -> None:
    random, texts = Random(SEED), sources()  # noqa: S311 - it guards nothing
    folder, memory = tmp_path / "files", tmp_path / "memory"
    folder.mkdir()
    path = folder / "rollout.yaml"
    slowest = 0.0
    for number in range(PROCESSES):
        path.write_bytes(damaged(texts, random))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            [sys.executable, str(ROOT / "tests/fuzz/alone.py"), str(path), str(memory)],
            capture_output=True,
            check=False,
            cwd=folder,
            env=bare_environment(),
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        slowest = max(slowest, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        wrong = judged(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
        assert not wrong, (number, wrong)
    took = [float(line) for line in memory.read_text().splitlines()]
    mib = max(took)
    tried(
        "fuzz", f"{PROCESSES} of them in processes of their own: slowest {slowest:.2f} CPU s, {mib:.0f} MiB"
    )

    assert len(took) == PROCESSES
    assert [each.name for each in folder.iterdir()] == ["rollout.yaml"]
    assert slowest < MOST_SECONDS_EACH
    assert mib < MOST_MIB


def test_three_hundred_clusters_that_the_models_allow(
    local_aws_server: LocalAws, tmp_path: Path, tried: Tried
) -> None:
    print(f"UC_FUZZ_SEED={SEED}")  # noqa: T201 - pytest shows it of a test that fails before its row is made
    chosen = drawn(2 * CLUSTERS, by=SEED)[:CLUSTERS]
    assert len(chosen) == CLUSTERS
    # What is linted and deployed comes first.
    chosen.sort(key=lambda each: (not needs_nothing(each), -len(json.dumps(each))))
    began = time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    assemblies = []
    for first in range(0, CLUSTERS, IN_ONE_APP):
        folder = tmp_path / str(first)
        folder.mkdir()
        assemblies.append(synthesize(chosen[first : first + IN_ONE_APP], folder))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() - began + after.ru_utime - children.ru_utime
    stacks = [stack for assembly in assemblies for stack in read_assembly(assembly)]
    tried(
        "fuzz",
        f"{CLUSTERS} drawn clusters synthesized, seed {SEED}: {len(stacks)} stacks, {seconds:.0f} CPU s",
    )
    assert len(stacks) == 3 * CLUSTERS

    first = [stack for stack in stacks if stack.template.is_relative_to(assemblies[0])][: 3 * DEPLOYED]
    found = linted(first)
    tried("fuzz", f"{DEPLOYED} of them linted: {len(found)} problems")
    assert found == []

    folder = tmp_path / "deployed"
    folder.mkdir()
    local_aws_server.reset()
    seed_images(local_aws_server, chosen[:DEPLOYED])
    deployed = deploy_assembly(local_aws_server, synthesize(chosen[:DEPLOYED], folder))
    local_aws_server.reset()
    tried("fuzz", f"{DEPLOYED} of them deployed to the local AWS: {len(deployed)} stacks")
    assert [f"{each.name}: {each.status} {each.reason}" for each in deployed if each.reason] == []
    assert [each.status for each in deployed] == ["CREATE_COMPLETE"] * 3 * DEPLOYED
