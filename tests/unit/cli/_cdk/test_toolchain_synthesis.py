"""`cdk synth` writes into a folder of its own, and a failure shows the end of its output."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli._cdk.fake_cdk import install_cdk

from ultracluster_cli._cdk import toolchain
from ultracluster_cli._cdk.toolchain import Project, Toolchain
from ultracluster_spec.findings import FindingsError

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
    installed = Toolchain(
        cdk=project / "node_modules" / ".bin" / "cdk", version="2.1148.1", path=os.environ["PATH"]
    )
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
