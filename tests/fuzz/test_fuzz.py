"""What nobody thought of: damaged files are refused in our words, and what the models allow is synthesized and deployed."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import pytest
from tests.cfn_lint import lint
from tests.fuzz.many import judged, run, sources, tried
from tests.fuzz.mutations import damaged
from tests.fuzz.valid_rollouts import drawn, seed_images

from ultracluster_cli.records import ALL_RECORDS
from ultracluster_local import LocalAws
from ultracluster_local.deploy import AssemblyStack, deploy_assembly, read_assembly
from ultracluster_spec.record import is_error
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis import in_process

pytestmark = pytest.mark.slow

FILES = 300
CLUSTERS = 24
SYNTHESIZED = 2


def test_damaged_files_are_refused_in_our_words_or_taken(tmp_path: Path) -> None:
    done = run(seed=7, count=FILES, folder=tmp_path)

    assert done["failures"] == []
    assert done["written"] == ["rollout.yaml"]
    assert sum(done["ends"].values()) == FILES
    assert set(done["ends"]) == {0, 2}


def test_the_same_seed_damages_in_the_same_way() -> None:
    seeded = [Random(seed) for seed in (1, 1, 2)]  # noqa: S311 - they guard nothing
    files = [[damaged(sources(), random) for _ in range(50)] for random in seeded]

    assert files[0] == files[1] != files[2]
    assert len(set(files[0])) == 50


@pytest.mark.parametrize("text", sources())
def test_undamaged_files_are_taken(text: str, tmp_path: Path) -> None:
    assert tried(tmp_path / "rollout.yaml", text.encode())[:2] == (0, "")


@pytest.mark.parametrize(
    ("exit_code", "out", "err"),
    [
        (1, "", ""),
        (2, "", ""),
        (0, "", "UC1001: it cannot be read.\n"),
        (2, "{}", "UC1001: it cannot be read.\n"),
        (2, "", "Traceback (most recent call last):\n"),
        (2, "", "UC1001: it cannot be read.\nand so on\n"),
        (2, "", "UC1001: a bell \x07.\n"),
        (2, "", "UC1022: got 5, which cannot be used here.\n"),
    ],
)
def test_another_end_is_seen(exit_code: int, out: str, err: str) -> None:
    assert judged(exit_code, out, err)


def write(path: Path, chosen: Sequence[dict[str, Any]], *, first: int = 0) -> None:
    # JSON is YAML, and keeps the quotes of "03:30".
    own = [_with_own_reservations(json.dumps(each), n) for n, each in enumerate(chosen, first)]
    named = [json.loads(each) | {"name": f"c{number}"} for number, each in enumerate(own, first)]
    path.write_text(json.dumps({"version": 1, "waves": [{"name": "all", "clusters": named}]}))


def _with_own_reservations(text: str, number: int) -> str:
    """A cluster with reservations of no other: a block is that of one cluster."""
    return re.sub(r"cr-[0-9a-f]{8,17}", lambda found: f"cr-{number:09x}{crc32(found[0].encode()):08x}", text)


def test_what_the_models_allow_loads(tmp_path: Path) -> None:
    chosen = drawn(CLUSTERS)
    assert len(chosen) > CLUSTERS / 2
    assert len({key for each in chosen for key in each}) > 15  # of the keys of a cluster, many are tried
    for each in chosen:
        write(tmp_path / "rollout.yaml", [each])
        assert not [
            finding
            for finding in load_rollout(tmp_path / "rollout.yaml").warnings
            if is_error(finding, ALL_RECORDS)
        ]


def needs_nothing(cluster: dict[str, Any]) -> bool:
    """Whether nothing has to exist before it, which this local AWS does not have."""
    text = json.dumps(cluster)
    named = ("vpc_id", "file_system_id", "bucket_name", "placement", "arn", "replicate_to", "associations")
    return not any(f'"{name}' in text or f'{name}"' in text for name in named)


def test_what_the_models_allow_is_synthesized_clean_and_deployed(
    local_aws_server: LocalAws, tmp_path: Path
) -> None:
    rich = sorted(filter(needs_nothing, drawn(CLUSTERS)), key=lambda each: -len(json.dumps(each)))
    assembly = synthesize(rich[:SYNTHESIZED], tmp_path)
    stacks = read_assembly(assembly)
    assert linted(stacks) == []
    local_aws_server.reset()
    seed_images(local_aws_server, rich[:SYNTHESIZED])
    deployed = deploy_assembly(local_aws_server, assembly)
    assert [f"{each.name}: {each.status} {each.reason}" for each in deployed if each.reason] == []
    assert [each.status for each in deployed] == ["CREATE_COMPLETE"] * 3 * SYNTHESIZED
    local_aws_server.reset()


def linted(stacks: Sequence[AssemblyStack]) -> list[str]:
    """What cfn-lint has against the templates of stacks."""
    return [
        f"{stack.name}: {problem}"
        for stack in stacks
        for problem in lint(stack.template.read_text(), regions=[stack.region])
    ]


def synthesize(chosen: list[dict[str, Any]], folder: Path) -> Path:
    write(folder / "rollout.yaml", chosen)
    in_process.synthesize(load_rollout(folder / "rollout.yaml").config.clusters(), folder / "cdk.out")
    return folder / "cdk.out"
