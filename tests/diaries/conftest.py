"""The terminal of a person who has a project and a local AWS, and the screens that are kept."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.app_project import write_project
from tests.diaries.terminal import Screen, Terminal, settled

ROOT = Path(__file__).parents[2]
SCREENS = Path(__file__).with_name("screens")


@pytest.fixture
def keeps() -> Callable[[str, Screen], None]:
    """Compare a screen with the one that is kept; `SCREENS=write` keeps new ones."""

    def keeps(name: str, screen: Screen) -> None:
        path = SCREENS / f"{name}.txt"
        if os.environ.get("SCREENS") == "write":
            path.write_text(settled(screen.text), encoding="utf-8")
        # Without blanks: the echo of what is typed may come before the blank that ends a prompt.
        assert "".join(settled(screen.text).split()) == "".join(path.read_text(encoding="utf-8").split())

    return keeps


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """The terminal of somebody without a project and without credentials."""
    folder = tmp_path_factory.mktemp("empty")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    outside = {"HOME": str(folder), "AWS_EC2_METADATA_DISABLED": "true", "TERM": "xterm", "TZ": "UTC"}
    return Terminal(folder, environment | outside)


@pytest.fixture(scope="module")
def project(empty: Terminal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """The terminal of somebody whose cluster is deployed on a local AWS."""
    folder = tmp_path_factory.mktemp("project")
    rollout = (ROOT / "stacks" / "rollouts" / "quickstart.yaml").read_text()
    write_project(folder, rollout)
    terminal = Terminal(folder, empty._environment)
    assert terminal.type("local", "up").code == 0
    try:
        deployed = terminal.type("deploy", "--local")
        assert deployed.code == 0, deployed.text
        yield terminal
    finally:
        terminal.type("local", "down")
