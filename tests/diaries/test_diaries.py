"""The diaries of four people who tried it, typed again at a terminal of 80 columns.

Each test is a friction that they met: what they saw then fails it.
"""

import re
from collections.abc import Callable

import pytest
from tests.diaries.terminal import COLUMNS, CTRL_C, Screen, Terminal, settled

pytestmark = pytest.mark.slow

Keeps = Callable[[str, Screen], None]


# The first hour


def test_init_checks_each_answer_and_proposes_the_folder(empty: Terminal, keeps: Keeps) -> None:
    screen = empty.type("init", answers=["trn2", "trn2.48xlarge", "", "", "ours", "4", "", ""])

    assert screen.code == 0, screen.text
    assert "UC4001" in screen.text
    assert (empty.folder / "ours" / "rollout.yaml").is_file()
    assert screen.widest <= COLUMNS
    keeps("init", screen)


# Every day


def test_status_is_one_screen(project: Terminal, keeps: Keeps) -> None:
    screen = project.type("status", "--local")

    assert screen.code == 0
    assert len(screen.text.splitlines()) <= 24
    assert screen.widest <= COLUMNS
    keeps("status", screen)


def test_a_job_is_listed_on_whole_lines_and_named_by_its_name(project: Terminal, keeps: Keeps) -> None:
    submitted = project.type("jobs", "submit", "quickstart", "pretrain", "--alone", "--local")
    assert submitted.code == 0, submitted.text
    (job,) = re.findall(r"[0-9a-f-]{36}", submitted.text)

    listed = project.type("jobs", "list", "quickstart", "--local")

    assert listed.text.count(job) == 1
    assert listed.widest <= COLUMNS
    assert not re.search(r"\d\d:\d\d:\d\d", listed.text)
    keeps("jobs-list", listed)
    assert project.type("jobs", "why", "pretrain", "--local").code in (0, 5)
    assert project.type("jobs", "stop", job[:8], "--now", "--local").code == 0


# At three in the morning


@pytest.mark.parametrize(
    "typed",
    ["destroy", "deploy --without-capacity --no-file-system", "ami bake nodes --region us-east-2"],
)
def test_ctrl_c_at_a_question_changes_nothing(project: Terminal, typed: str) -> None:
    exported = re.findall(r"^export (\w+)=(\S*)$", project.type("local", "env").text, re.MULTILINE)
    signed_in = Terminal(project.folder, project._environment | dict(exported))
    before = signed_in.type("status").text

    screen = signed_in.type(*typed.split(), answers=[CTRL_C])

    assert screen.code == 1
    assert "Traceback" not in screen.text
    assert screen.text.rstrip().endswith("Aborted!")
    assert settled(signed_in.type("status").text) == settled(before)


# The last day: it runs last, since it deletes the cluster


def test_destroy_names_what_is_kept_and_succeeds(project: Terminal, keeps: Keeps) -> None:
    screen = project.type("destroy", "--local")

    assert screen.code == 0, screen.text
    assert "Kept; what costs is paid for until you delete it" in screen.text
    keeps("destroy", screen)
    assert "Nothing is deployed" in project.type("status", "--local").text
