"""Commands behind a `$` of tutorials and README.md print what these pages show, on a local AWS; see test_shown_commands.py.

Outputs about jobs are compared from the first word to the last, but for IDs and times. After each tutorial has deployed, a
program of one's own runs on its cluster.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment
from tests.diaries.terminal import settled
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
    (tmp_path / "block.py").write_text(BLOCK)
    return tmp_path


def environment(folder: Path) -> Mapping[str, str]:
    path = [str(Path(sys.executable).parent), str(ROOT / "node_modules/.bin"), os.environ["PATH"]]
    return bare_environment(
        PATH=os.pathsep.join(path),
        COLUMNS="110",
        HOME=str(folder),
        TMPDIR=str(folder),
        # The folder of a reader is no part of this repository, which may ignore it.
        GIT_CEILING_DIRECTORIES=str(folder.parent),
    )


PROGRAM = "import os; print('my own program on node', os.environ['NODE_RANK'])"
BLOCK = """
import os
from datetime import UTC, datetime, timedelta
from ultracluster_spec.file_system import MOUNT_PATH
from ultracluster_cli._aws.local_target import node_files
from ultracluster_local.seeding.seed_client import SeedImage, SeedReservation, seed
seed(
    endpoint=os.environ["AWS_ENDPOINT_URL"],
    key=os.environ["AWS_ACCESS_KEY_ID"],
    regions=["us-east-2"],
    images=[
        SeedImage(image_id="ami-0123456789abcdef0", region="us-east-2", files=node_files(), shared=MOUNT_PATH)
    ],
    reservations=[
        SeedReservation(
            reservation_id="cr-0123456789abcdef0", region="us-east-2", zone_id="use2-az3", block=True,
            instance_type="trn2.48xlarge", count=4,
            start=datetime.now(UTC) - timedelta(hours=1), end=datetime.now(UTC) + timedelta(days=13),
        )
    ],
)
"""
"""The block and the image of a CDK app, which `deploy --local` makes for a rollout file."""
OWN: Mapping[str, tuple[str, str]] = {
    "tutorials/first-cluster.md": ("ultracluster run", "ultracluster run train.py --folder own"),
    "tutorials/own-app.md": (
        "ultracluster jobs submit",
        "python ../block.py && ultracluster run train.py --folder own --cluster Training",
    ),
    "tutorials/three-regions.md": ("sed", "ultracluster run train.py --folder own --cluster canary"),
}
"""For each tutorial, the command before which people run a program of their own, and how."""
RUNS_JOBS = "ultracluster local up --run-jobs" + "".join(
    f" --image 123456789012.dkr.ecr.us-east-{number}.amazonaws.com/training=../.venv" for number in (1, 2)
)
ABOUT_JOBS = ("ultracluster run", "ultracluster queue", "ultracluster jobs", "ultracluster local clock")


def played(page: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a page with the outputs that it shows, and that of one's own program."""
    before, command = OWN.get(page, ("", ""))
    for block in BLOCKS:
        for typed, shown in block.steps if block.page == page else ():
            if before and typed.startswith(before):
                before = ""
                yield (
                    f'mkdir own && echo "{PROGRAM}" > own/train.py && {command}',
                    "...\nmy own program on node 0...",
                )
            yield RUNS_JOBS if typed == "ultracluster local up" and page in OWN else typed, shown
    assert not before, f"{page} does not show it any more"


def comparable(text: str) -> str:
    """Return an output without IDs and times, and lines below headings without their lengths.

    The block of a page starts when it is deployed, which the clock may pass in a later command.
    """
    return re.sub(r".* UTC: start of cr-.*\n", "", re.sub(r"-{3,}", "---", settled(text)))


def test_outputs_about_jobs_are_shown_whole() -> None:
    steps = [step for block in BLOCKS for step in block.steps if step[0].startswith(ABOUT_JOBS)]
    assert len(steps) > 6
    assert [command for command, shown in steps if "..." in shown or not shown] == []


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
    steps = list(played(page))
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
            assert is_shown(comparable(output), comparable(shown)), (command, output)
    finally:
        shell.stdin.write("ultracluster local down\n")
        shell.stdin.close()
        shell.stdout.read()
        shell.wait(60)
