"""Commands behind a `$` of tutorials and README.md print what these pages show, on a local AWS; see test_shown_commands.py."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment
from tests.unit.docs.pages import ROOT, code_blocks, is_shown

pytestmark = pytest.mark.slow

MARK = "-- the command has ended --"
BLOCKS = [block for block in code_blocks("console") if block.shows_output and block.in_tutorial]
PAGES = sorted({block.page for block in BLOCKS})
READ_ALWAYS = {"tutorials/first-cluster.md"}
"""Pages that `make test` reads; `make check-deep` reads all. test_deploy_command.py holds what README.md shows."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the parts of a checkout that tutorials use."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "stacks").symlink_to(ROOT / "stacks")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    for name in ("app.py", "cdk.json"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def environment(folder: Path) -> Mapping[str, str]:
    path = [str(Path(sys.executable).parent), str(ROOT / "node_modules/.bin"), os.environ["PATH"]]
    return bare_environment(PATH=os.pathsep.join(path), COLUMNS="110", HOME=str(folder), TMPDIR=str(folder))


# The CDK checks templates in the first deployment of a user; other tests show that it finds nothing in the other pages' apps.
CHECKED = {"README.md": {"CDK_VALIDATION": "true"}}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=() if page in READ_ALWAYS else pytest.mark.deep) for page in PAGES]
)
def test_every_command_prints_what_the_page_shows(checkout: Path, page: str) -> None:
    shell = subprocess.Popen(
        ["bash"],
        cwd=checkout,
        env={**environment(checkout), **CHECKED.get(page, {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert shell.stdin
    assert shell.stdout
    steps = [step for block in BLOCKS if block.page == page for step in block.steps]
    assert len(steps) > 2  # or a tutorial has lost its commands
    try:
        for command, shown in steps:
            shell.stdin.write(f"{command}\ncode=$?; echo; echo '{MARK}' $code\n")
            shell.stdin.flush()
            lines = []
            for line in shell.stdout:
                if line.startswith(MARK):
                    break
                lines.append(line)
            output = "".join(lines)
            assert line == f"{MARK} 0\n", (command, output)
            assert is_shown(output, shown), (command, output)
    finally:
        shell.stdin.write("ultracluster local down\n")
        shell.stdin.close()
        shell.stdout.read()
        shell.wait(60)
