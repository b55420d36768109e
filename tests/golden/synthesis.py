"""Templates of the configurations today: rollouts as app.py synthesizes them without its cache, and the examples' own apps."""

import json
import runpy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from tests.golden.configurations import EXPORTED

from ultracluster_cli.export.command import export_assembly
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import StackTemplate
from ultracluster_stacks.synthesis import in_process

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
    return {
        name: (_app if path.suffix == ".py" else _rollout)(path, folder / name)
        for name, path in sources.items()
    }


def _rollout(path: Path, folder: Path) -> list[StackTemplate]:
    clusters = load_rollout(path).config.clusters()
    with _apps_into(folder / "cdk.out"):
        in_process.synthesize(clusters, folder / "cdk.out")
    if path.name.endswith(EXPORTED):
        export_assembly(folder / "cdk.out", clusters, output=folder / "exported", bucket=None)
        return _exported(folder / "exported")
    return assembled_stacks(folder / "cdk.out")


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


def _app(path: Path, folder: Path) -> list[StackTemplate]:
    with _apps_into(folder):
        runpy.run_path(str(path))
    return assembled_stacks(folder)


@contextmanager
def _apps_into(outdir: Path) -> Iterator[None]:
    """Make apps write into a folder, with the context of cdk.json."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CDK_VALIDATION", "false")
        patch.setattr(cdk, "App", partial(_new_app, outdir=str(outdir)))
        yield


_App = cdk.App  # before it is replaced by what apps shall find


def _new_app(**settings: Any) -> cdk.App:
    return _App(**{"analytics_reporting": False, "tree_metadata": False, "context": _CONTEXT} | settings)
