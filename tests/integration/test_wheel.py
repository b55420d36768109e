"""The library as somebody else gets it: a wheel, installed elsewhere, used by an app in another folder."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "ultracluster",
    "ultracluster_catalog",
    "ultracluster_checks",
    "ultracluster_rules",
    "ultracluster_cli",
    "ultracluster_local",
    "ultracluster_runtime",
    "ultracluster_stacks",
}


def uv(*arguments: str | Path) -> None:
    """Run uv, which builds and unpacks a wheel in a third of the time that pip takes, without a way out."""
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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    uv("build", "--wheel", "--no-build-isolation", "--out-dir", directory, ROOT)
    (built,) = directory.glob("*.whl")
    return built


def test_the_wheel_holds_our_packages_and_nothing_called_constructs(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert "ultracluster/scripts/node-boot.sh" in names
    assert "ultracluster_stacks/plan/replacement.json" in names


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    uv("pip", "install", "--no-deps", "--target", directory, wheel)
    return directory


@pytest.mark.synth
def test_an_app_elsewhere_synthesizes_a_cluster_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    source = (ROOT / "examples/own-app/app.py").read_text()
    (project / "app.py").write_text(source + "\nimport ultracluster\n\nprint(ultracluster.__file__)\n")
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=project,
        env=bare_environment(
            PYTHONPATH=str(installed), CDK_OUTDIR=str(tmp_path / "cdk.out"), CDK_VALIDATION="false"
        ),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # The installed copy was used, not the one of this checkout.
    assert Path(done.stdout.strip()).is_relative_to(installed)
    assert "AWS::Batch::JobDefinition" in (tmp_path / "cdk.out/Training.template.json").read_text()


@pytest.mark.synth
@pytest.mark.deploy
def test_a_new_project_passes_its_own_tests_and_deploys_from_the_wheel(
    installed: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"

    def run(*arguments: str, folder: Path = project) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=bare_environment(PYTHONPATH=str(installed), CDK_VALIDATION="false"),
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
