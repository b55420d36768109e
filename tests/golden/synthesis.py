"""What configurations give today: every rollout of a version in one app, every app of one's own by itself."""

import functools
import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from tests.golden.configurations import EXPORTED

from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli.export.run import export_assembly
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_stacks.config import ClusterConfig, load_rollout
from ultracluster_stacks.plan import StackTemplate
from ultracluster_stacks.rollout import define_rollout

__all__ = ["synthesize"]

_CONTEXT = json.loads((Path(__file__).parents[2] / "cdk.json").read_text())["context"]


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
    if not sources:
        return {}
    app = _new_app(outdir=str(folder / "cdk.out"))
    clusters: dict[str, list[ClusterConfig]] = {}
    for name, path in sources.items():
        config = load_rollout(path).config
        clusters[name] = clusters_of(config, None)
        define_rollout(app, config)
    _synthesized(app)
    stacks = [one.stack for one in assembled_stacks(folder / "cdk.out")]
    found = {}
    for name, own in clusters.items():
        stages = {f"{each.name}-{each.region}" for each in own}
        if name.endswith(EXPORTED):
            export_assembly(folder / "cdk.out", own, output=folder / name, bucket=None)
            found[name] = _exported(folder / name)
        else:
            found[name] = [stack for stack in stacks if stack.cluster in stages]
    return found


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
        patch.setattr(cdk, "App", functools.partial(_new_app, outdir=str(outdir)))
        runpy.run_path(str(path))
    return [one.stack for one in assembled_stacks(outdir)]


_App = cdk.App  # before it is replaced by what apps shall find


def _new_app(**settings: Any) -> cdk.App:
    return _App(analytics_reporting=False, tree_metadata=False, context=_CONTEXT, **settings)


def _synthesized(app: cdk.App) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CDK_VALIDATION", "false")  # others judge the templates
        app.synth()
