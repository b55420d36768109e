"""Roles and cdk-nag over every cluster of the grid, the ready rollouts and the examples."""

import json
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path

import aws_cdk as cdk
import pytest
from tests.deep.conftest import Tried
from tests.grid.dimensions import DIMENSIONS, ROWS, placed
from tests.security.judged_roles import judged, problems
from tests.security.nag import nagged
from tests.security.templates import templates_of

from ultracluster._foundation.synthesis_check import give_warnings
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.stacks.cluster_stage import ClusterStage

pytestmark = [pytest.mark.deep, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/app.py"))

# What belongs to the example's own part of its app, whose owner answers for it.
OF_THE_EXAMPLE = {
    "own-vpc": {"Training/Vpc/Resource"},
    "research-jobs": {"Research/Researchers/DefaultPolicy/Resource"},
    "sagemaker-queue": {"SageMakerQueue/Submitters/DefaultPolicy/Resource"},
}


def _grid(directory: Path) -> Path:
    clusters = []
    for index, row in enumerate(ROWS):
        region = DIMENSIONS["machine"][row["machine"]]["region"]
        there = {"VPC": f"vpc-{index:017x}", "SUBNET": f"subnet-{index:017x}", "GROUP": f"sg-{index:017x}"}
        existing = there if row["network"].startswith("existing") else {}
        clusters.append(placed(row, region=region, **existing) | {"image_id": f"ami-{index:017x}"})
    path = directory / "grid.yaml"
    path.write_text(json.dumps({"version": 1, "waves": [{"name": "grid", "clusters": clusters}]}))
    return path


def _rollouts(directory: Path) -> Mapping[str, Path]:
    ready = {path.name: path for path in (ROOT / "stacks" / "rollouts").glob("*.yaml")}
    return ready | {"grid": _grid(directory)}


@pytest.mark.parametrize("name", ["grid", "jobs.yaml", "quickstart.yaml", "two-waves.yaml"])
def test_roles_and_nag_over_rollouts(name: str, tmp_path: Path, tried: Tried) -> None:
    def define(app: cdk.App) -> None:
        for config in load_rollout(_rollouts(tmp_path)[name]).config.clusters():
            ClusterStage(app, config=config)

    _judge(tmp_path, define, name=name, own=set(), tried=tried)


@pytest.mark.parametrize("example", EXAMPLES)
def test_roles_and_nag_over_examples(example: str, tmp_path: Path, tried: Tried) -> None:
    def define(app: cdk.App) -> None:
        # The example makes its own app; it gets this one, which is synthesized and checked afterwards.
        give_warnings(app, lambda _: None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cdk, "App", lambda *_, **__: app)
            patch.setattr(app, "synth", lambda: None)
            runpy.run_path(str(ROOT / "examples" / example / "app.py"))

    _judge(tmp_path, define, name=example, own=OF_THE_EXAMPLE.get(example, set()), tried=tried)


def _judge(
    directory: Path, define: Callable[[cdk.App], None], *, name: str, own: set[str], tried: Tried
) -> None:
    seen = nagged(directory / "cdk.out", define)
    templates = templates_of(seen.assembly)
    roles = [role for _, _, role, _ in judged(templates)]
    theirs = {problem for problem in problems(templates) if not _is_of_the_app(problem, own)}
    assert theirs == set()
    assert {path for _, path in seen.unanswered} == own
    assert seen.given == {(at, answer) for answer, at, _ in seen.answered.values()}
    tried("security", f"{name}: {len(roles)} roles judged, {len(seen.answered)} findings of cdk-nag answered")


def _is_of_the_app(problem: str, own: set[str]) -> bool:
    return any(path.split("/")[1] in problem for path in own)
