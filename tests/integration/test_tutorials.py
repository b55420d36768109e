"""Commands behind a `$` print what their pages show, on a local AWS: tutorials, README.md, and any other page that has one."""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment
from tests.unit.docs.pages import PAGES as ALL_PAGES
from tests.unit.docs.pages import ROOT

pytestmark = pytest.mark.deploy

SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MARK = "-- the command has ended --"


def steps(page: Path) -> Iterator[tuple[str, str]]:
    """Yield each command behind a `$` of the page's console blocks, and the output that the page shows."""
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        yield from re.findall(r"^\$ (.*?)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


PAGES = [page for page in ALL_PAGES if any(steps(page))]


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
CHECKED = {"README": {"CDK_VALIDATION": "true"}}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_prints_what_the_page_shows(checkout: Path, page: Path) -> None:
    shell = subprocess.Popen(
        ["bash"],
        cwd=checkout,
        env={**environment(checkout), **CHECKED.get(page.stem, {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert shell.stdin
    assert shell.stdout
    commands = list(steps(page))
    assert len(commands) > 2 or page.parent.name == "how-to"  # or a tutorial has lost its commands
    try:
        for command, expected in commands:
            shell.stdin.write(f"{command}\ncode=$?; echo; echo '{MARK}' $code\n")
            shell.stdin.flush()
            lines = []
            for line in shell.stdout:
                if line.startswith(MARK):
                    break
                lines.append(line)
            output = "".join(lines)
            assert line == f"{MARK} 0\n", (command, output)
            if expected:
                assert doctest.OutputChecker().check_output(expected, output, SHOWN), (command, output)
    finally:
        shell.stdin.write("ultracluster local down\n")
        shell.stdin.close()
        shell.stdout.read()
        shell.wait(60)
