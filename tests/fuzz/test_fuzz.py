"""Unforeseen input: damaged files are refused in our words, and what the models allow is synthesized and deployed.

In large, UC_FUZZ_SEED chooses files and clusters; without it each run has its own, which the output shows.
"""

import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from tests.bare_environment import bare_environment
from tests.cfn_lint import lint
from tests.fuzz.many import sources, tried
from tests.fuzz.valid_rollouts import drawn, seed_images

from ultracluster_local import LocalAws
from ultracluster_local.deploy import AssemblyStack, deploy_assembly, read_assembly
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis import in_process

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("UC_FUZZ_SEED") or secrets.randbelow(10**6))
IN_ONE_APP = 50
MOST_SECONDS = 60
MOST_MIB = 300


@pytest.mark.parametrize(
    ("seed", "files"),
    [pytest.param(7, 300, id="few"), pytest.param(SEED, 10_000, marks=pytest.mark.deep, id="many")],
)
def test_damaged_files_are_refused_in_our_words_or_taken(seed: int, files: int, tmp_path: Path) -> None:
    program = str(Path(__file__).with_name("many.py"))
    command = [sys.executable, program, str(seed), str(files), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=bare_environment())
    done = json.loads(ended.stdout)
    failures = done.pop("failures")
    print(f"seed {seed}: {done}")  # noqa: T201 - the figures of `pytest -rP`

    assert failures == []
    assert done["written"] == ["rollout.yaml"]
    assert sum(done["ends"].values()) == files
    assert set(done["ends"]) == {"0", "2"}
    assert done["seconds"] < MOST_SECONDS
    assert done["mib"] < MOST_MIB


@pytest.mark.parametrize("text", sources())
def test_undamaged_files_are_taken(text: str, tmp_path: Path) -> None:
    assert tried(tmp_path / "rollout.yaml", text.encode())[:2] == (0, "")


def write(path: Path, chosen: Sequence[dict[str, Any]], *, first: int = 0) -> None:
    # JSON is YAML, and keeps the quotes of "03:30".
    own = [_with_own_reservations(json.dumps(each), n) for n, each in enumerate(chosen, first)]
    named = [json.loads(each) | {"name": f"c{number}"} for number, each in enumerate(own, first)]
    path.write_text(json.dumps({"version": 1, "waves": [{"name": "all", "clusters": named}]}))


def _with_own_reservations(text: str, number: int) -> str:
    """A cluster with reservations of no other: a block is that of one cluster."""
    return re.sub(r"cr-[0-9a-f]{8,17}", lambda found: f"cr-{number:09x}{crc32(found[0].encode()):08x}", text)


def needs_nothing(cluster: dict[str, Any]) -> bool:
    """Whether nothing has to exist before it, which this local AWS does not have."""
    text = json.dumps(cluster)
    named = ("vpc_id", "file_system_id", "bucket_name", "placement", "arn", "replicate_to", "associations")
    return not any(f'"{name}' in text or f'{name}"' in text for name in named)


@pytest.mark.parametrize(
    ("by", "count", "synthesized", "deployed"),
    [
        pytest.param(None, 24, 2, 2, id="few"),
        pytest.param(SEED, 600, 300, 20, marks=pytest.mark.deep, id="many"),
    ],
)
def test_what_the_models_allow_is_synthesized_clean_and_deployed(
    local_aws_server: LocalAws, tmp_path: Path, *, by: int | None, count: int, synthesized: int, deployed: int
) -> None:
    print(f"UC_FUZZ_SEED={by}")  # noqa: T201 - pytest shows it of a test that fails
    chosen = drawn(count, by=by)
    rich = sorted(filter(needs_nothing, chosen), key=lambda each: -len(json.dumps(each)))[:deployed]
    chosen = [*rich, *(each for each in chosen if each not in rich)][:synthesized]
    assert len(rich) == deployed
    assert len(chosen) == synthesized
    first = synthesize(rich, tmp_path / "rich")
    assert linted(read_assembly(first)) == []
    for number in range(deployed, synthesized, IN_ONE_APP):
        some = chosen[number : number + IN_ONE_APP]
        assert len(read_assembly(synthesize(some, tmp_path / str(number)))) == 3 * len(some)
    local_aws_server.reset()
    seed_images(local_aws_server, rich)
    results = deploy_assembly(local_aws_server, first)
    local_aws_server.reset()
    assert [f"{each.name}: {each.status} {each.reason}" for each in results if each.reason] == []
    assert [each.status for each in results] == ["CREATE_COMPLETE"] * 3 * deployed


def linted(stacks: Sequence[AssemblyStack]) -> list[str]:
    """What cfn-lint has against the templates of stacks."""
    return [
        f"{stack.name}: {problem}"
        for stack in stacks
        for problem in lint(stack.template.read_text(), regions=[stack.region])
    ]


def synthesize(chosen: list[dict[str, Any]], folder: Path) -> Path:
    folder.mkdir()
    write(folder / "rollout.yaml", chosen)
    in_process.synthesize(load_rollout(folder / "rollout.yaml").config.clusters(), folder / "cdk.out")
    return folder / "cdk.out"
