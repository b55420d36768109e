"""Templates of the configurations today: rollouts as app.py synthesizes them without its cache, and the examples' own apps."""

import fcntl
import hashlib
import json
import os
import pickle
import runpy
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from tests.golden.configurations import EXPORTED, GOLDEN, configurations

from ultracluster_cli.export.command import export_assembly
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import StackTemplate
from ultracluster_stacks.synthesis import in_process
from ultracluster_stacks.synthesis.assembly.fingerprint import synthesis_fingerprint

__all__ = ["stacks_of", "synthesize"]

_ROOT = GOLDEN.parents[1]
_CONTEXT = json.loads((_ROOT / "cdk.json").read_text())["context"]
_STATE = _ROOT / ".ultracluster" / "golden"
_DAY = 86_400


def stacks_of(name: str) -> list[StackTemplate]:
    """Return the stacks of a configuration, which all tests share: each state of the sources is synthesized once.

    Args:
        name: Name of the configuration.
    """
    return list(pickle.loads(_synthesized(name)))  # noqa: S301 - written below


@cache
def _synthesized(name: str) -> bytes:
    path = _state_of_the_sources() / f"{name}.pickle"
    with path.with_suffix(".lock").open("w") as lock, tempfile.TemporaryDirectory() as folder:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            (stacks,) = synthesize({name: configurations()[name]}, Path(folder)).values()
            written = path.with_suffix(f".{os.getpid()}")
            written.write_bytes(pickle.dumps([replace(stack, assembly=None) for stack in stacks]))
            written.rename(path)
    return path.read_bytes()


@cache
def _state_of_the_sources() -> Path:
    read = [*configurations().values(), *(_ROOT / "cli/ultracluster_cli/export").rglob("*.py")]
    digest = hashlib.sha256(synthesis_fingerprint(_CONTEXT, {}).encode())
    for path in (*sorted(read), *sorted(GOLDEN.glob("*.py"))):
        digest.update(path.read_bytes())
    folder = _STATE / digest.hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in _STATE.iterdir():
        if earlier != folder and earlier.stat().st_mtime < time.time() - _DAY:
            shutil.rmtree(earlier, ignore_errors=True)
    return folder


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
