"""A shell on a node is one of Session Manager."""

import json
import os
import shutil
from pathlib import Path

import pytest

from ultracluster_cli.jobs.session import open_shell
from ultracluster_local.seeding import seed_client
from ultracluster_spec.findings import FindingsError


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    executed: list[str] = []
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(os, "execvp", lambda _, command: executed.extend(command))
    return executed


def test_the_node_and_its_account_are_named(executed: list[str]) -> None:
    open_shell("i-1", region="us-east-2", profile="training")

    assert executed == [
        *("aws", "ssm", "start-session", "--target", "i-1"),
        *("--region", "us-east-2", "--profile", "training"),
    ]


def test_the_container_of_a_job_is_found_by_its_task(executed: list[str]) -> None:
    open_shell("i-1", region="us-east-2", profile=None, container_of="arn:task")

    (command,) = json.loads(executed[-1])["command"]
    assert "label=com.amazonaws.ecs.task-arn=arn:task" in command
    assert executed[-3] == "AWS-StartInteractiveCommand"


def test_missing_programs_are_a_finding_with_the_command_to_run(
    executed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "aws" else None)

    with pytest.raises(
        FindingsError, match=r"^error: session-manager-plugin not found.*aws ssm start-session"
    ):
        open_shell("i-1", region="us-east-2", profile=None)
    assert executed == []


@pytest.mark.usefixtures("executed")
def test_on_the_local_aws_a_shell_opens_beside_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[dict[str, str]] = []
    started: list[tuple[list[str], dict[str, str], Path]] = []

    def shell_directory(**order: str) -> tuple[str, dict[str, str]]:
        asked.append(order)
        return str(tmp_path), {"RANK": "1"}

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setattr(seed_client, "shell_directory", shell_directory)
    monkeypatch.setattr(
        os, "execvpe", lambda _, command, variables: started.append((command, variables, Path.cwd()))
    )

    open_shell("i-1", region="us-east-2", profile=None, container_of="arn:task")

    assert asked == [{"endpoint": "http://localhost:1", "key": "key", "name": "arn:task"}]
    assert started == [(["bash"], {"RANK": "1", "TERM": "xterm"}, tmp_path)]
