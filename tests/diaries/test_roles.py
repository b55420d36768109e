"""Fifteen things that each of four people wants, typed at a terminal of 80 columns in a project on a local AWS.

roles.yaml has the commands and what they show. Their screens are kept in `screens`; `SCREENS=write` keeps new ones.
"""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.app_project import write_project
from tests.diaries.terminal import COLUMNS, Terminal, settled

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCREENS = Path(__file__).with_name("screens")
ROLES: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("roles.yaml").read_text("utf-8")
)
READ_ALWAYS = {"researcher"}
"""Roles that `make test` plays; `make check-deep` plays all."""
PRIVATE = re.compile(r"Traceback|\bNone\b|\(s\)|site-packages|<\w+ object")
DAYS = {name: datetime.now(UTC) + timedelta(days=days) for name, days in (("soon", 1), ("later", 20))}


@pytest.fixture(scope="module")
def signed_in(empty: Terminal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """The terminal of somebody who has typed `eval "$(ultracluster local env)"` in the project of a deployed cluster."""
    folder = tmp_path_factory.mktemp("roles")
    write_project(folder, (ROOT / "stacks/rollouts/quickstart.yaml").read_text())
    (folder / "train.py").write_text("import time\ntime.sleep(15)\nprint('the end of train.py')\n")
    settings = empty._environment | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    terminal = Terminal(folder, settings)
    image = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training"
    programs = Path(os.environ.get("VIRTUAL_ENV", ROOT / ".venv"))
    assert terminal.type("local", "up", "--run-jobs", "--image", f"{image}={programs}").code == 0
    try:
        deployed = terminal.type("deploy", "--local")
        assert deployed.code == 0, deployed.text
        exported = re.findall(r"^export (\w+)=(\S*)$", terminal.type("local", "env").text, re.MULTILINE)
        yield Terminal(folder, settings | dict(exported))
    finally:
        terminal.type("local", "down")


def test_each_of_four_people_wants_fifteen_things_and_what_they_type_is_counted() -> None:
    assert [len(tasks) for tasks in ROLES.values()] == [15] * 4
    path = SCREENS / "tasks.txt"
    counted = _counted()
    if os.environ.get("SCREENS") == "write":
        path.write_text(counted, encoding="utf-8")
    assert counted == path.read_text(encoding="utf-8")


def _counted() -> str:
    """Return the commands and words of each task, before and now, with the name of the program among the words."""
    lines, sums = [], [0, 0, 0, 0]
    for role, tasks in ROLES.items():
        for task in tasks:
            before = task.get("before", [task["type"]])
            # What was not possible is in no sum.
            words = sum(1 + len(command.split()) for command in before)
            numbers = [len(before), words, *((1, 1 + len(task["type"].split())) if before else (0, 0))]
            sums = [total + number for total, number in zip(sums, numbers, strict=True)]
            was = f"{len(before):8}{words:7}" if before else f"{'not possible':>15}"
            lines.append(f"{role:12}{task['want']:42}{was}{1:6}{1 + len(task['type'].split()):7}")
    head = f"{'role':12}{'task':42}{'commands':>8}{'words':>7}{'now':>6}{'words':>7}"
    last = f"{'':12}{'all that was possible before':42}{sums[0]:8}{sums[1]:7}{sums[2]:6}{sums[3]:7}"
    return "\n".join([head, *lines, last]) + "\n"


@pytest.mark.parametrize(
    "role", [pytest.param(role, marks=() if role in READ_ALWAYS else pytest.mark.deep) for role in ROLES]
)
def test_a_person_gets_what_they_want_with_one_command(signed_in: Terminal, role: str) -> None:
    wrong, kept = [], ""
    for task in ROLES[role]:
        words = [
            word.format(**{name: f"{day:%Y-%m-%d}" for name, day in DAYS.items()})
            for word in task["type"].split()
        ]
        screen = signed_in.type(*words)
        flat = " ".join(screen.text.split())
        missing = [shown for shown in task["shows"] if shown not in flat]
        private = PRIVATE.findall(screen.text)
        # JSON is for programs, a path is not broken, and lines of logs are as they were written.
        free = ("cost --json", "local status", "logs train")
        wide = screen.widest > COLUMNS and not task["type"].startswith(free)
        if missing or private or wide or screen.code != task.get("code", 0):
            found = f"code {screen.code}, without {missing}, with {private}, {screen.widest} columns wide"
            wrong.append(f"{task['type']}: {found}:\n{screen.text}")
        if not task.get("varies"):
            kept += f"$ ultracluster {task['type']}\n{settled(screen.text)}\n"
    path = SCREENS / f"{role}.txt"
    if os.environ.get("SCREENS") == "write":
        path.write_text(kept, encoding="utf-8")
    assert not wrong, "\n".join(wrong)
    assert kept == path.read_text(encoding="utf-8")
