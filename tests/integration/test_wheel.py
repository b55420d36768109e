"""The wheels as users install them, used by an app in another folder."""

import json
import os
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "ultracluster",
    "ultracluster_catalog",
    "ultracluster_checks",
    "ultracluster_spec",
    "ultracluster_cli",
    "ultracluster_runtime",
    "ultracluster_stacks",
}


def uv(*arguments: str | Path) -> None:
    """Run uv, which builds and unpacks a wheel in a third of the time that pip takes, without network access."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "uv",
            *arguments,
            "--quiet",
            "--offline",
            "--no-cache",
            "--python",
            sys.executable,
        ],
        check=True,
    )


def build(source: Path, directory: Path) -> Path:
    uv("build", "--wheel", "--no-build-isolation", "--out-dir", directory, source)
    (built,) = directory.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def local_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT / "localaws", tmp_path_factory.mktemp("local_wheel"))


def test_the_readme_has_no_relative_link_on_a_package_index(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = str(message_from_bytes(archive.read(name)).get_payload())
    assert "# ultracluster" in text
    assert [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("https://")] == []
    assert "(`ultracluster docs first-cluster`)" in text  # as long as the project has no URL


def test_the_wheel_contains_only_our_packages(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert "ultracluster/scripts/node-boot.sh" in names
    assert "ultracluster_stacks/plan/replacement.json" in names


def test_the_local_wheel_holds_its_package_and_its_pytest_plugin_alone(local_wheel: Path) -> None:
    archive = zipfile.ZipFile(local_wheel)
    names = [name for name in archive.namelist() if ".dist-info/" not in name]
    (entry_points,) = (name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
    assert {name.split("/")[0] for name in names} == {"ultracluster_local"}
    assert {
        "ultracluster_local/py.typed",
        "ultracluster_local/functions/lambda_harness/node_harness.js",
    } <= set(names)
    assert "ultracluster_local = ultracluster_local.pytest_plugin" in archive.read(entry_points).decode()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in archive.namelist())


def test_the_extra_local_requires_the_local_wheel_in_its_version(wheel: Path, local_wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    requirements = message_from_bytes(archive.read(metadata)).get_all("Requires-Dist") or []
    version = local_wheel.name.split("-")[1]
    assert f"ultracluster-local=={version}; extra == 'local'" in requirements
    assert not [line for line in requirements if line.startswith("moto")]


@pytest.fixture(scope="module")
def installed(wheel: Path, local_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    uv("pip", "install", "--no-deps", "--target", directory, wheel, local_wheel)
    return directory


def test_the_local_aws_deploys_without_the_rest_of_us(
    local_wheel: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    site = tmp_path_factory.mktemp("local_site")
    uv("pip", "install", "--no-deps", "--target", site, local_wheel)
    template = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
    (tmp_path / "Topics.template.json").write_text(json.dumps(template))
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": "aws://123456789012/us-east-2",
        "properties": {"templateFile": "Topics.template.json"},
    }
    (tmp_path / "manifest.json").write_text(json.dumps({"version": "1", "artifacts": {"Topics": stack}}))
    (tmp_path / "test_topics.py").write_text(
        """
import sys
from pathlib import Path

from ultracluster_local.deploy import deploy_assembly


def test_topics(local_aws):
    (result,) = deploy_assembly(local_aws, Path(__file__).parent)
    assert result.status == "CREATE_COMPLETE"
    assert len(local_aws.client("sns", "us-east-2").list_topics()["Topics"]) == 1
    ours = {name.partition(".")[0] for name in sys.modules if name.startswith("ultracluster")}
    assert ours == {"ultracluster_local"}
"""
    )
    # The environment of this run may hold an editable installation: only the plugin of the wheel is loaded.
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            f"--config-file={os.devnull}",  # not that of the repository, in which temporary folders may be
            f"--rootdir={tmp_path}",
            "-p",
            "no:cacheprovider",
            "-p",
            "ultracluster_local.pytest_plugin",
        ],
        cwd=tmp_path,
        env=bare_environment(PYTHONPATH=str(site), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.slow
@pytest.mark.deep
def test_an_app_elsewhere_synthesizes_a_cluster_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    source = (ROOT / "examples/own-app/app.py").read_text()
    (project / "app.py").write_text(source + "\nimport ultracluster\n\nprint(ultracluster.__file__)\n")
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=project,
        env=bare_environment(
            PYTHONPATH=str(installed), CDK_OUTDIR=str(tmp_path / "cdk.out"), CDK_VALIDATION="true"
        ),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # The installed copy was used, not the one of this checkout.
    assert Path(done.stdout.strip()).is_relative_to(installed)
    assert "AWS::Batch::JobDefinition" in (tmp_path / "cdk.out/Training.template.json").read_text()
    # The CDK's own check of templates finds nothing.
    report = json.loads((tmp_path / "cdk.out/validation-report.json").read_text())
    assert [each["violations"] for each in report["pluginReports"]] == []


@pytest.mark.slow
@pytest.mark.deep
def test_a_new_project_passes_its_own_tests_and_deploys_from_the_wheel(
    installed: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"

    def run(*arguments: str, folder: Path = project) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=bare_environment(PYTHONPATH=str(installed)),
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert Path(
        run("-c", "import ultracluster_cli as c; print(c.__file__)", folder=tmp_path).strip()
    ).is_relative_to(installed)
    run("-m", "ultracluster_cli", "init", str(project), "--name", "ours", "--nodes", "2", folder=tmp_path)
    (project / "node_modules").symlink_to(ROOT / "node_modules")  # in place of npm ci

    own_folder = f"--basetemp={tmp_path / 'pytest'}"  # or it would tidy up among those of this run
    assert "1 passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", own_folder, "tests")
    told = json.loads(run("-m", "ultracluster_cli", "deploy", "--local", "--json"))
    (cluster,) = told["clusters"]
    assert cluster["nodes"] == 2
    assert {stack["status"] for stack in cluster["stacks"]} == {"CREATE_COMPLETE"}
