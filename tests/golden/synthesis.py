"""Templates of the configurations today: rollouts through app.py, as `cdk deploy` runs it, and the examples' own apps."""

import json
import runpy
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from tests.golden.configurations import EXPORTED
from tests.unit.stacks.conftest import synthesize_rollout

from ultracluster_cli.export.command import export_assembly
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import StackTemplate

__all__ = ["synthesize"]

_CONTEXT = json.loads((Path(__file__).parents[2] / "cdk.json").read_text())["context"]
_AT_ONCE = 2


def synthesize(sources: Mapping[str, Path], folder: Path) -> dict[str, list[StackTemplate]]:
    """Synthesize configurations.

    Args:
        sources: File of each, by its name.
        folder: An empty folder for the assemblies.

    Returns:
        The stacks of each configuration.
    """
    apps = {name: path for name, path in sources.items() if path.suffix == ".py"}
    return _rollouts(
        {name: path for name, path in sources.items() if name not in apps}, folder / "rollouts"
    ) | {name: _app(path, folder / name) for name, path in apps.items()}


def _rollouts(sources: Mapping[str, Path], folder: Path) -> dict[str, list[StackTemplate]]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(zip(sources, pool.map(partial(_rollout, folder=folder), sources.values()), strict=True))


def _rollout(path: Path, *, folder: Path) -> list[StackTemplate]:
    own = folder / path.name
    own.mkdir(parents=True)
    done = synthesize_rollout(path.resolve(), own / "cdk.out", cached=False)
    if done.returncode:
        raise ValueError(done.stderr)
    if path.name.endswith(EXPORTED):
        clusters = load_rollout(path).config.clusters()
        export_assembly(own / "cdk.out", clusters, output=own / "exported", bucket=None)
        return _exported(own / "exported")
    return [one.stack for one in assembled_stacks(own / "cdk.out")]


def _exported(folder: Path) -> list[StackTemplate]:
    return [
        StackTemplate(
            cluster=path.parent.name,
            name=f"{path.parent.name}-{path.name.partition('.')[0]}",
            region="",
            template=json.loads(path.read_text()),
        )
        for path in sorted(folder.rglob("*.template.json"))
    ]


def _app(path: Path, outdir: Path) -> list[StackTemplate]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CDK_VALIDATION", "false")
        patch.setattr(cdk, "App", partial(_new_app, outdir=str(outdir)))
        runpy.run_path(str(path))
    return [one.stack for one in assembled_stacks(outdir)]


_App = cdk.App  # before it is replaced by what apps shall find


def _new_app(**settings: Any) -> cdk.App:
    return _App(analytics_reporting=False, tree_metadata=False, context=_CONTEXT, **settings)
