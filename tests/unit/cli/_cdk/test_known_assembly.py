"""An assembly that our app would take from its cache is written without the CDK CLI; any other is not."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli._cdk import known_assembly
from ultracluster_cli._cdk.known_assembly import write_known_assembly
from ultracluster_cli._cdk.toolchain import find_toolchain
from ultracluster_local.instance.environment import child_environment
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.app import synthesize
from ultracluster_stacks.synthesis.assembly.cache import CACHE_DIRECTORY, AssemblyCache
from ultracluster_stacks.synthesis.assembly.fingerprint import synthesis_fingerprint

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
SETTINGS: dict[str, Any] = {"app": "python3 app.py", "versionReporting": False, "context": {"a": 1}}
HOME = {"HOME": "/nowhere"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of `init`."""
    (tmp_path / "app.py").write_text((ROOT / "app.py").read_text())
    (tmp_path / "cdk.json").write_text(json.dumps(SETTINGS))
    return tmp_path


def passed(project: Path, environment: dict[str, str] | None = None) -> dict[str, Any] | None:
    return known_assembly._passed_by_the_cdk_cli(project, environment or HOME)


@pytest.mark.parametrize("settings", [SETTINGS, {"app": "python3 app.py"}, SETTINGS | {"watch": {}}])
def test_the_context_is_what_the_cdk_cli_passes(project: Path, settings: dict[str, Any]) -> None:
    (project / "cdk.json").write_text(json.dumps(settings))
    (project / "cdk.context.json").write_text('{"looked up": "b"}')
    expected = passed(project)
    told = settings | {"app": "printenv CDK_CONTEXT_JSON > context.json; false"}
    (project / "cdk.json").write_text(json.dumps(told))
    toolchain = find_toolchain(ROOT)
    environment = os.environ | {"PATH": toolchain.path, "HOME": str(project)}

    subprocess.run(
        [toolchain.cdk, "synth", "**", "--quiet", "--no-notices", "--output", project / "cdk.out"],
        cwd=project,
        env=environment,
        capture_output=True,
        check=False,
    )

    assert json.loads((project / "context.json").read_text()) == expected


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("app.py", '"""Another."""\nimport sys\nimport own\n'),
        ("app.py", "not Python"),
        ("app.py", (ROOT / "app.py").read_text().replace('"""', "import own #", 1).replace('"""', "", 1)),
        ("cdk.json", json.dumps(SETTINGS | {"context": []})),
        ("cdk.context.json", "[]"),
        ("cdk.json", json.dumps(SETTINGS | {"app": "python app.py"})),
        ("cdk.json", json.dumps(SETTINGS | {"pathMetadata": False})),
        ("cdk.json", "[]"),
        (".cdk.json", "{}"),
    ],
)
def test_another_app_or_other_settings_are_for_the_cdk_cli(project: Path, file: str, text: str) -> None:
    (project / file).write_text(text)

    assert passed(project, {"HOME": str(project)}) is None


def test_the_variables_of_the_local_aws_are_for_the_cache(project: Path) -> None:
    assert passed(
        project, child_environment(endpoint="http://localhost:1", key="k", region="us-east-2", base=HOME)
    )


def test_an_option_of_the_cdk_cli_as_a_variable_is_for_the_cdk_cli(project: Path) -> None:
    assert passed(project, HOME | {"CDK_HOME": "h", "CDK_VALIDATION": "false"})
    assert passed(project, HOME | {"CDK_PATH_METADATA": "false"}) is None


def test_a_cluster_in_the_cache_is_written_and_a_changed_one_is_not(project: Path) -> None:
    rollout = project / "rollout.yaml"
    rollout.write_text((ROOT / "stacks" / "rollouts" / "quickstart.yaml").read_text())
    clusters: list[Cluster] = load_rollout(rollout).config.clusters()
    context = {**(passed(project) or {}), "rollout": str(rollout)}
    cache = AssemblyCache(project / CACHE_DIRECTORY, fingerprint=synthesis_fingerprint(context, HOME))
    synthesize(clusters, project / "by-the-app", cache=cache, processes=1)
    given = {"rollout": str(rollout)}

    assert write_known_assembly(project, project / "known", context=given, environment=HOME)
    manifests = [(project / folder / "manifest.json").read_text() for folder in ("by-the-app", "known")]
    assert json.loads(manifests[0]) == json.loads(manifests[1])

    rollout.write_text(rollout.read_text().replace("name: quickstart", "name: another", 1))
    assert not write_known_assembly(project, project / "other", context=given, environment=HOME)
    assert not (project / "other").exists()
