"""A shell on a node is one of Session Manager."""

import json
import os
import shutil

import pytest

from ultracluster_cli.jobs.shell import open_shell
from ultracluster_rules.findings import FindingsError


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
        FindingsError, match=r"^UC6232: session-manager-plugin not found.*aws ssm start-session"
    ):
        open_shell("i-1", region="us-east-2", profile=None)
    assert executed == []


def test_the_local_aws_has_no_shell(executed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:1")

    with pytest.raises(FindingsError, match=r"^UC6232: the local AWS has no instances"):
        open_shell("i-1", region="us-east-2", profile=None)
    assert executed == []
