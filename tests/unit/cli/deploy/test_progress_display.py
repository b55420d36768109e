"""Progress on stderr: lines in a log, a bar on a terminal."""

import sys

import pytest

from ultracluster_cli.deploy.cdk_progress import DeploymentProgress
from ultracluster_cli.deploy.progress_display import BarDisplay, LineDisplay, progress_display

LINES = [
    "✨  Synthesis time: 1.5s",
    "a/N (a-N): deploying... [1/2]",
    "a-N | 2/9 | 3:43:52 AM | CREATE_COMPLETE | AWS::EC2::VPC | Vpc",
    "✅  a/N (a-N)",
    "✨  Deployment time: 0.5s",
    "b/N (b-N): deploying... [2/2]",
    "✅  b/N (b-N) (no changes)",
    "✨  Deployment time: 0s",
]
TOLD = ["a/N: deployed, 0.5 s", "b/N: no changes, 0.0 s"]


@pytest.mark.parametrize("display_class", [LineDisplay, BarDisplay])
def test_each_step_is_printed_once_and_in_order(
    capsys: pytest.CaptureFixture[str], display_class: type[LineDisplay | BarDisplay]
) -> None:
    progress = DeploymentProgress()
    with display_class() as display:
        for line in LINES:
            progress.read(line)
            display.show(progress)

    captured = capsys.readouterr()
    assert [line for line in captured.err.splitlines() if line in TOLD] == TOLD
    assert captured.out == ""


def test_the_bar_follows_the_stack_and_its_resources() -> None:
    progress = DeploymentProgress()
    with BarDisplay() as display:
        for line in LINES[:3]:
            progress.read(line)
            display.show(progress)
        (task,) = display._bar.tasks

        assert task.description == "[1/2] a/N"
        assert (task.completed, task.total) == (2, 9)


@pytest.mark.parametrize(("terminal", "expected"), [(True, BarDisplay), (False, LineDisplay)])
def test_only_a_terminal_has_a_bar(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, expected: type[LineDisplay | BarDisplay]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)

    assert isinstance(progress_display(), expected)
