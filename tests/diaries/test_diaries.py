"""The diaries of four people who tried it, typed again at a terminal of 80 columns.

Each test is a friction that they met: what they saw then fails it.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.diaries.terminal import COLUMNS, CTRL_C, Screen, Terminal

pytestmark = pytest.mark.slow

Keeps = Callable[[str, Screen], None]
FIND = ["capacity", "find", "--instance-type", "trn2.48xlarge", "--nodes", "4", "--days", "14"]
FAR = ["--between", "2020-01-01", "2020-01-10"]


# The first hour


@pytest.mark.parametrize(
    ("typed", "meant"), [("destory", "destroy"), ("delete", "destroy"), ("ssh", "nodes")]
)
def test_an_unknown_command_is_never_answered_with_the_opposite(
    empty: Terminal, typed: str, meant: str
) -> None:
    screen = empty.type(typed)

    assert screen.code == 2
    assert f"Did you mean '{meant}'?" in screen.text.replace("\n", " ")
    assert "deploy" not in screen.text


def test_init_checks_each_answer_and_proposes_the_folder(empty: Terminal, keeps: Keeps) -> None:
    screen = empty.type("init", answers=["trn2", "trn2.48xlarge", "", "", "ours", "4", "", ""])

    assert screen.code == 0, screen.text
    assert "UC4001" in screen.text
    assert (empty.folder / "ours" / "rollout.yaml").is_file()
    assert screen.widest <= COLUMNS
    keeps("init", screen)


@pytest.mark.parametrize("answered", range(7))
def test_ctrl_c_at_each_question_of_init_leaves_no_project(
    empty: Terminal, tmp_path: Path, answered: int
) -> None:
    screen = Terminal(tmp_path, empty._environment).type("init", answers=[*[""] * answered, CTRL_C])

    assert screen.code == 1
    assert "Traceback" not in screen.text
    assert screen.text.rstrip().endswith("Aborted!")
    assert [path.name for path in tmp_path.iterdir() if path.name != ".ultracluster"] == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--between", "2099-01-01", "2098-01-01"], "UC7014"),
        (FAR, "UC7014"),
        (["--between", "2098-01-01", "2099-01-01", "--regions", "us-east2"], "UC2102"),
        (["--between", "2098-01-01", "2099-01-01", "--instance-type", "trn2"], "UC4001"),
        (["--between", "2098-01-01", "2099-01-01", "--nodes", "80"], "error: --nodes: got 80"),
    ],
)  # fmt: skip
def test_an_impossible_search_is_not_answered_with_an_empty_list(
    empty: Terminal, options: list[str], code: str
) -> None:
    screen = empty.type(*FIND, *options)

    assert screen.code == 2
    assert code in screen.text
    assert "No offering" not in screen.text


def test_a_search_without_credentials_is_not_an_empty_list(empty: Terminal) -> None:
    soon = [f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}" for days in (3, 20)]
    screen = empty.type(*FIND, "--between", *soon)

    assert screen.code == 2
    assert "UC9009" in screen.text
    assert "No offering" not in screen.text


def test_findings_are_not_broken_inside_words(empty: Terminal) -> None:
    screen = empty.type(*FIND, "--between", "2098-01-01", "2099-01-01", "--regions", "us-east2")

    assert screen.widest <= COLUMNS
    assert {"Allowed:", "'us-east-2'?"} <= set(screen.text.split())


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


def test_a_checkpoint_and_a_shell_say_what_they_need(project: Terminal) -> None:
    for words in (["jobs", "checkpoint", "pretrain"], ["jobs", "shell", "pretrain"]):
        screen = project.type(*words, "--local")
        assert screen.code == 2
        assert "`ultracluster queue` lists running jobs" in " ".join(screen.text.split())


def test_nodes_of_a_cluster_are_listed(project: Terminal) -> None:
    screen = project.type("nodes", "list", "quickstart", "--local")

    assert screen.code == 0
    assert "they start when a job waits for them" in screen.text.replace("\n", " ").replace("  ", " ")


def test_a_silent_command_shows_that_it_works(project: Terminal) -> None:
    assert " ... " in project.type("plan", "--local").raw


def test_states_have_colours(project: Terminal) -> None:
    assert "\x1b[3" in project.type("jobs", "list", "quickstart", "--all", "--local").raw


# The last day: it runs last, since it deletes the cluster


def test_destroy_names_what_is_kept_and_succeeds(project: Terminal, keeps: Keeps) -> None:
    screen = project.type("destroy", "--local")

    assert screen.code == 0, screen.text
    assert "Kept; what costs is paid for until you delete it" in screen.text
    keeps("destroy", screen)
    assert "Nothing is deployed" in project.type("status", "--local").text
