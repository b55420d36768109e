"""The app, with the CDK itself as the judge: whatever came from the cache, the bytes are those of a plain synthesis."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment
from tests.other_machine import another_machine
from tests.unit.stacks.conftest import ROOT

pytestmark = pytest.mark.deep

# What an app does that knows of no cache.
PLAIN = """
import aws_cdk as cdk
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.stacks.cluster_stage import ClusterStage
for rollout in ("rollout", "changed"):
    app = cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False, outdir=f"plain-{rollout}")
    for cluster in load_rollout(f"{rollout}.yaml").config.clusters():
        ClusterStage(app, config=cluster)
    app.synth()
"""
# The app, in as many processes as it is told, which says whether it imported aws_cdk.
OURS = """
import os, sys
from pathlib import Path
from ultracluster_stacks.synthesis import app as synthesis
from ultracluster_stacks.synthesis.assembly import workers
synthesis.processes_for = lambda clusters: min(int(sys.argv[1]), max(1, clusters))
assert synthesis.main() == 0
print("aws_cdk" in sys.modules)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of an app with the rollout of two waves, and one that differs in one cluster."""
    project = tmp_path_factory.mktemp("project")
    (project / "cdk.json").write_text("{}")
    text = (ROOT / "stacks/rollouts/two-waves.yaml").read_text()
    (project / "rollout.yaml").write_text(text)
    changed = text.replace("nodes: 2", "nodes: 1", 1)
    assert changed != text
    (project / "changed.yaml").write_text(changed)
    _run(project, "none", "rollout", "-c", PLAIN)
    return project


def test_the_app_writes_the_same_bytes_as_the_cdk_with_and_without_the_cache_and_on_another_machine(
    project: Path,
) -> None:
    # `make check-deep` tries these and more one by one.
    machine = {
        "PYTHONHASHSEED": "1",
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "C",
        "USER": "somebody",
        "HOME": "/nonexistent",
    }
    told = [
        _run(project, "shared", "rollout", "-c", OURS, "2", **machine, **another_machine()),
        _run(project, "warm", "rollout", "-c", OURS, "1"),
        _run(project, "partly", "changed", "-c", OURS, "1"),
    ]

    # Processes that share the work import aws_cdk themselves; else it is imported only for what is not known.
    assert told == ["False", "False", "True"]
    assert _content(project / "shared") == _content(project / "plain-rollout")
    assert _content(project / "warm") == _content(project / "plain-rollout")
    assert _content(project / "partly") == _content(project / "plain-changed")
    assert _content(project / "partly") != _content(project / "warm")


def _run(project: Path, outdir: str, rollout: str, *arguments: str, **machine: str) -> str:
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    environment = bare_environment(
        CDK_OUTDIR=str(project / outdir),
        CDK_CONTEXT_JSON=json.dumps(context | {"rollout": f"{rollout}.yaml", "cache": "true"}),
        **machine,
    )
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=project,
        umask=0o077 if machine else -1,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _content(root: Path) -> dict[str, bytes]:
    assert root.is_dir()
    return {
        str(path.relative_to(root)): path.read_bytes() + str(os.access(path, os.X_OK)).encode()
        for path in root.rglob("*")
        if path.is_file()
    }
