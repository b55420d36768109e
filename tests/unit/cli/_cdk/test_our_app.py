"""Our app is run without the CDK CLI, or not at all where its cache has every cluster; any other app is not."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli._cdk import our_app
from ultracluster_cli._cdk.our_app import synthesize_our_app
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
    return our_app._passed_by_the_cdk_cli(project, environment or HOME)


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


def test_a_cluster_in_the_cache_is_written_and_for_a_changed_one_the_app_is_run(project: Path) -> None:
    rollout = project / "rollout.yaml"
    rollout.write_text((ROOT / "stacks" / "rollouts" / "quickstart.yaml").read_text())
    clusters: list[Cluster] = load_rollout(rollout).config.clusters()
    context = {**(passed(project) or {}), "rollout": str(rollout)}
    cache = AssemblyCache(project / CACHE_DIRECTORY, fingerprint=synthesis_fingerprint(context, HOME))
    synthesize(clusters, project / "by-the-app", cache=cache, processes=1)
    ran: list[Mapping[str, str]] = []

    def written(name: str, **more: str) -> bool:
        given = {"rollout": str(rollout)} | more

        def run(variables: Mapping[str, str]) -> int:
            ran.append(variables)
            return 1

        return synthesize_our_app(project, project / name, context=given, environment=HOME, run=run)

    assert written("known")
    assert ran == []
    manifests = [(project / folder / "manifest.json").read_text() for folder in ("by-the-app", "known")]
    assert json.loads(manifests[0]) == json.loads(manifests[1])

    assert not written("not taken", cache="false")
    rollout.write_text(rollout.read_text().replace("name: quickstart", "name: another", 1))
    assert not written("other")
    assert [each["CDK_OUTDIR"] for each in ran] == [str(project / "not taken"), str(project / "other")]


def test_the_app_alone_writes_what_the_cdk_cli_has_it_write_but_the_report_of_a_validation(
    project: Path,
) -> None:
    rollout, toolchain = ROOT / "stacks" / "rollouts" / "quickstart.yaml", find_toolchain(ROOT)
    environment = os.environ | {"PATH": toolchain.path, "HOME": str(project)}
    environment.pop("CDK_VALIDATION", None)
    given = {"rollout": str(rollout)}

    def run(variables: Mapping[str, str]) -> int:
        return subprocess.run(["python3", "app.py"], cwd=project, env=variables, check=False).returncode

    assert synthesize_our_app(project, project / "alone", context=given, environment=environment, run=run)
    shutil.rmtree(project / CACHE_DIRECTORY)
    command = [toolchain.cdk, "synth", "**", "--quiet", "--no-notices", "--context", f"rollout={rollout}"]
    subprocess.run([*command, "--output", "by-cdk"], cwd=project, env=environment, check=True)

    alone, by_cdk = (
        {
            path.relative_to(project / folder): path.read_bytes()
            for path in (project / folder).rglob("*")
            if path.is_file()
        }
        for folder in ("alone", "by-cdk")
    )
    assert json.loads(by_cdk.pop(Path("validation-report.json")))["pluginReports"] == []
    assert alone == by_cdk


@pytest.mark.parametrize(
    ("reports", "passes"),
    [
        (None, True),
        ([], True),
        ([{"conclusion": "success"}], True),
        ([{"conclusion": "success"}, {"conclusion": "failure"}], False),
    ],
)
def test_what_validation_refuses_is_left_to_the_cdk_cli(
    project: Path, reports: list[dict[str, str]] | None, passes: bool
) -> None:
    def run(variables: Mapping[str, str]) -> int:
        output = Path(variables["CDK_OUTDIR"])
        output.mkdir()
        if reports is not None:
            (output / "validation-report.json").write_text(json.dumps({"pluginReports": reports}))
        return 0

    given = {"cache": "false"}
    assert synthesize_our_app(project, project / "o", context=given, environment=HOME, run=run) is passes
