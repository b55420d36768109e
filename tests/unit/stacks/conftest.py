"""Rollouts synthesized as `cdk synth` does: app.py in a process of its own, without credentials."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.bare_environment import bare_environment

ROOT = Path(__file__).parents[3]
QUICKSTART = ROOT / "stacks/rollouts/quickstart.yaml"

Templates = dict[str, dict[str, Any]]


def synthesize_rollout(
    rollout: Path, directory: Path, *, cached: bool = True, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Synthesize a rollout.

    Args:
        rollout: The file.
        directory: Where the assembly is written.
        cached: Whether what this checkout has synthesized before may be taken, as app.py does; tests of synthesis itself
            take nothing.
        variables: Variables of the environment.
    """
    context = json.loads((ROOT / "cdk.json").read_text())["context"] | {"rollout": str(rollout)}
    environment = bare_environment(CDK_OUTDIR=str(directory), CDK_CONTEXT_JSON=json.dumps(context))
    return subprocess.run(
        [sys.executable, str(ROOT / "app.py")],
        env=environment | variables,
        cwd=ROOT if cached else directory.parent,  # the cache is in the folder of cdk.json
        text=True,
        capture_output=True,
        check=False,
    )


@pytest.fixture(scope="session")
def synthesize() -> Callable[..., subprocess.CompletedProcess[str]]:
    return synthesize_rollout


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("quickstart") / "cdk.out"
    done = synthesize_rollout(QUICKSTART, directory)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture(scope="session")
def templates(assembly: Path) -> Templates:
    """Templates by the last part of the stack's name."""
    found = {}
    for manifest in assembly.glob("assembly-*/manifest.json"):
        for artifact in json.loads(manifest.read_text())["artifacts"].values():
            if artifact["type"] == "aws:cloudformation:stack":
                properties = artifact["properties"]
                name = properties["stackName"].rsplit("-", 1)[1]
                found[name] = json.loads((manifest.parent / properties["templateFile"]).read_text())
    return found
