"""The CDK CLI's words, recorded from `cdk deploy "**" --progress events` of version 2.1148.1, are understood."""

import sys
from typing import Any

import pytest
import rich.progress

from ultracluster_cli.deploy import cdk_progress
from ultracluster_cli.deploy.cdk_progress import DeployedStack, DeploymentProgress, progress_display

FIRST = """
✨  Synthesis time: 1.72s

a-us-east-2-Network: start: Building a-us-east-2-Network Template
a-us-east-2-Network: success: Published a-us-east-2-Network Template (current_account-us-east-2-35987046)
a-us-east-2/Network (a-us-east-2-Network)
a-us-east-2-Network: creating CloudFormation changeset...
a-us-east-2/Network (a-us-east-2-Network): deploying... [1/4]
a-us-east-2-Network |  0/22 | 3:43:52 AM | CREATE_IN_PROGRESS      | AWS::CloudFormation::Stack | a-us-east-2-Network User Initiated
a-us-east-2-Network |  3/22 | 3:43:52 AM | CREATE_COMPLETE         | AWS::EC2::VPC              | Network/Vpc (NetworkVpc1)
""".splitlines()
REST = """

✅  a-us-east-2/Network (a-us-east-2-Network)

✨  Deployment time: 0.05s

Stack ARN:
arn:aws:cloudformation:us-east-2:123456789012:stack/a-us-east-2-Network/de8a7808-c0d3-45d4-8810-c84200ea21eb
b-us-east-2/Network (b-us-east-2-Network): deploying... [2/4]

✅  b-us-east-2/Network (b-us-east-2-Network) (no changes)

✨  Deployment time: 0s

✨  Total time: 2.82s
""".splitlines()


@pytest.fixture
def progress() -> DeploymentProgress:
    return DeploymentProgress()


def read(progress: DeploymentProgress, lines: list[str]) -> None:
    for line in lines:
        progress.read(line)


def test_follows_a_stack_and_its_resources(progress: DeploymentProgress) -> None:
    read(progress, FIRST)

    assert progress.current == "a-us-east-2/Network (a-us-east-2-Network)"
    assert progress.stacks == 4
    assert (progress.resources_done, progress.resources_total) == (3, 22)
    assert progress.deployed == []


def test_distinguishes_changed_and_unchanged_stacks(progress: DeploymentProgress) -> None:
    read(progress, FIRST + REST)

    assert progress.deployed == [
        DeployedStack(name="a-us-east-2/Network (a-us-east-2-Network)", changed=True, seconds=0.05),
        DeployedStack(name="b-us-east-2/Network (b-us-east-2-Network)", changed=False, seconds=0.0),
    ]
    assert progress.current is None
    assert progress.failures == []


def test_records_failures(progress: DeploymentProgress) -> None:
    event = "a | 1/3 | 3:43:52 AM | CREATE_FAILED | AWS::S3::Bucket | B (B1) Resource handler returned message: no"
    read(progress, [*FIRST, event, "❌  a failed to deploy: ROLLBACK_COMPLETE"])

    assert progress.failures == [event, "❌  a failed to deploy: ROLLBACK_COMPLETE"]


def test_reads_through_colors(progress: DeploymentProgress) -> None:
    progress.read("\x1b[1ma-us-east-2/Network\x1b[22m: deploying... [1/2]")

    assert progress.current == "a-us-east-2/Network"


def test_keeps_the_last_lines_for_a_failure_in_other_words(progress: DeploymentProgress) -> None:
    read(progress, [*(f"line {number}" for number in range(100)), "connect ECONNREFUSED", ""])

    assert progress.failures == []
    assert progress.last_lines[-1] == "connect ECONNREFUSED"
    assert len(progress.last_lines) < 10


@pytest.mark.parametrize("line", ["", "Stack ARN:", "Outputs:", "x = deploying", "[WARNING] something"])
def test_other_lines_change_nothing(progress: DeploymentProgress, line: str) -> None:
    progress.read(line)
    progress.last_lines.clear()

    assert progress == DeploymentProgress()


# Showing it

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


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[rich.progress.Progress]:
    """The bars that are shown."""
    made: list[rich.progress.Progress] = []

    def make(*columns: Any, **options: Any) -> rich.progress.Progress:
        made.append(rich.progress.Progress(*columns, **options))
        return made[-1]

    monkeypatch.setattr(cdk_progress, "Progress", make)
    return made


@pytest.mark.parametrize("terminal", [True, False])
def test_each_step_is_printed_once_and_in_order_and_only_a_terminal_has_a_bar(
    terminal: bool,
    bars: list[rich.progress.Progress],
    progress: DeploymentProgress,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    with progress_display() as show:
        for line in LINES:
            progress.read(line)
            show(progress)

    captured = capsys.readouterr()
    assert [told for line in captured.err.splitlines() for told in TOLD if line.endswith(told)] == TOLD
    assert captured.out == ""
    assert len(bars) == terminal


def test_the_bar_follows_the_stack_and_its_resources(
    bars: list[rich.progress.Progress], progress: DeploymentProgress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_display() as show:
        for line in LINES[:3]:
            progress.read(line)
            show(progress)
        (task,) = bars[0].tasks

    assert task.description == "[1/2] a/N"
    assert (task.completed, task.total) == (2, 9)
