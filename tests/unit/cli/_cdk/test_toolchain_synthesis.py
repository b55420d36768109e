"""`cdk synth` writes into a folder of its own, and a failure shows the end of its output."""

import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli._cdk.fake_cdk import install_cdk

from ultracluster_cli._cdk.toolchain import Project, Toolchain
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

WRITES_ITS_ARGUMENTS = """\
import json, pathlib, sys
pathlib.Path("called.json").write_text(json.dumps(sys.argv[1:]))
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
    toolchain = Toolchain(
        cdk=project / "node_modules" / ".bin" / "cdk", version="2.1148.1", path=os.environ["PATH"]
    )
    app = Project(directory=project, temporary=project, toolchain=toolchain)
    app.synthesize(project / "new", **given | changes)


@pytest.mark.parametrize(("wave", "context"), [(None, []), ("canary", ["wave=canary"])])
def test_the_rollout_and_the_wave_are_context_of_the_app(
    tmp_path: Path, wave: str | None, context: list[str]
) -> None:
    synthesize(tmp_path, WRITES_ITS_ARGUMENTS, wave=wave)

    called = json.loads((tmp_path / "called.json").read_text())
    assert called[called.index("--output") + 1] == str(tmp_path / "new")
    assert [value for option, value in itertools.pairwise(called) if option == "--context"] == [
        f"rollout={tmp_path / 'rollout.yaml'}",
        *context,
    ]


def test_a_failure_shows_the_last_lines_and_names_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FindingsError, match=r"error: cdk synth ended with code 7; see .*cdk-synth\.log"):
        synthesize(tmp_path, FAILS)

    assert capsys.readouterr().err.splitlines() == [f"  | line {number}" for number in range(2, 12)]
