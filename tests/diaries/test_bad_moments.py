"""Commands that are typed where they cannot work, as bad_moments.yaml lists them: one line each, and nothing is half done."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.app_project import write_project
from tests.diaries.terminal import COLUMNS, CTRL_C, Terminal

pytestmark = pytest.mark.slow

MOMENTS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("bad_moments.yaml").read_text("utf-8")
)
THREE_CLUSTERS = Path(__file__).parents[2] / "stacks/rollouts/two-waves.yaml"


@pytest.fixture(scope="module")
def nowhere(
    empty: Terminal, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Terminal]:
    """A terminal in a folder of the kind that a moment names."""
    folder = tmp_path_factory.mktemp("nowhere")
    outside = {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    terminal = Terminal(folder, empty._environment | outside, mighty=request.param != "a folder to read only")
    if request.param != "no project":
        write_project(folder, THREE_CLUSTERS.read_text("utf-8"))
        (folder / "train.py").touch()
    if request.param == "no folder to write to":
        (folder / "taken").touch()
        (folder / "saved").mkdir()
        (folder / ".ultracluster").touch()
    if request.param == "a folder to read only":
        folder.chmod(0o555)
    yield terminal
    folder.chmod(0o755)


@pytest.mark.parametrize(
    ("nowhere", "moment"),
    [(kind, moment) for kind, moments in MOMENTS.items() for moment in moments],
    indirect=["nowhere"],
    ids=lambda value: value if isinstance(value, str) else value["type"],
)
def test_a_command_that_cannot_work_says_so_and_leaves_nothing(
    nowhere: Terminal, moment: dict[str, Any]
) -> None:
    def files() -> list[Path]:
        return sorted(path for path in nowhere.folder.rglob("*") if ".ultracluster" not in path.parts)

    before = files()
    screen = nowhere.type(*moment["type"].split())

    assert screen.code == moment.get("code", 2), screen.text
    flat = " ".join(screen.text.split())
    assert moment["says"] in flat
    assert "Traceback" not in flat
    assert screen.widest <= COLUMNS
    assert len(re.findall(r"UC\d{4}:|[Ee]rror:", flat)) == 1
    assert files() == before


@pytest.mark.parametrize("answered", range(7))
def test_ctrl_c_at_each_question_of_init_leaves_no_project(
    empty: Terminal, tmp_path: Path, answered: int
) -> None:
    screen = Terminal(tmp_path, empty._environment).type("init", answers=[*[""] * answered, CTRL_C])

    assert screen.code == 1
    assert "Traceback" not in screen.text
    assert screen.text.rstrip().endswith("Aborted!")
    assert [path.name for path in tmp_path.iterdir() if path.name != ".ultracluster"] == []
