"""Errors of the local AWS become findings."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from ultracluster_cli._aws.targets import local_aws_findings
from ultracluster_local.errors import LocalAwsError
from ultracluster_spec.findings import FindingsError

ERRORS = [
    LocalAwsError("UC8002", "a local AWS is already running in this process", remedy="Stop it, or use it"),
    LocalAwsError("UC8001", "got 'http://10.0.0.7'", allowed="http://localhost:PORT", remedy="Unset it."),
    LocalAwsError("UC8006", "it does not answer"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_an_error_becomes_a_finding_with_the_same_code_and_text(error: LocalAwsError) -> None:
    with pytest.raises(FindingsError) as caught, local_aws_findings():
        raise error
    assert str(caught.value) == str(error)
    assert [finding.code for finding in caught.value.findings] == [error.code]


def test_other_errors_pass_unchanged() -> None:
    with pytest.raises(ModuleNotFoundError), local_aws_findings():
        raise ModuleNotFoundError(name="torch")


@pytest.mark.parametrize(
    "command", [("local", "up"), ("local", "status"), ("local", "reset"), ("local", "env"), ("local", "down")]
)
def test_without_ultracluster_local_a_command_reports_what_to_install(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, command: tuple[str, str]
) -> None:
    monkeypatch.setitem(sys.modules, "ultracluster_local.errors", None)
    outcome = run(*command)
    assert outcome.code == 2
    assert outcome.stderr == (
        "UC8004: Python module ultracluster_local is missing. Install ultracluster[local].\n"
    )


@pytest.mark.slow
def test_only_the_local_target_needs_ultracluster_local() -> None:
    code = """
import sys
sys.modules["ultracluster_local"] = None
import ultracluster_cli.deploy.deployment, ultracluster_cli.local.demo, ultracluster_cli.rollout.command
from ultracluster_cli._aws.targets import running_local_aws
try:
    running_local_aws(region="us-east-1")
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        done.stdout == "UC8004: Python module ultracluster_local is missing. Install ultracluster[local].\n"
    )
