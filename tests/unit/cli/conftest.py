"""Run the command line in this process, through its entry point."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ultracluster_cli.main import main


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended and what it printed."""

    code: int
    stdout: str
    stderr: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command line with arguments."""

    def run_with(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = main(arguments)
        return Outcome(code, *capfd.readouterr())

    return run_with


@pytest.fixture
def quickstart() -> Path:
    """The rollout of the quick start."""
    return Path(__file__).parents[3] / "stacks" / "rollouts" / "quickstart.yaml"
