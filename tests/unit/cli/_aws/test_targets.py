"""Deployment targets: accounts with valid credentials, and the local AWS, whose errors are findings."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import boto3
import botocore.exceptions
import pytest
from tests.unit.cli.conftest import Run

from ultracluster_cli._aws.targets import account, local_aws_findings
from ultracluster_local.errors import LocalAwsError
from ultracluster_runtime.functions.clients import OF_COMMANDS
from ultracluster_spec.findings import FindingsError


class Session:
    """A session of boto3 whose STS answers or refuses."""

    region_name = None
    meta = SimpleNamespace(events=SimpleNamespace(register=lambda *_, **__: None))

    def __init__(self, error: Exception | None = None, *, profile_name: str | None = None) -> None:
        self._error, self.profile_name = error, profile_name

    def client(self, service: str, *, region_name: str, config: Any) -> "Session":
        assert config is OF_COMMANDS
        assert (service, region_name) == ("sts", "us-east-1")
        return self

    def get_caller_identity(self) -> dict[str, Any]:
        if self._error:
            raise self._error
        return {"Account": "210987654321", "Arn": "arn:aws:iam::210987654321:user/jane"}


def test_the_account_is_named_before_anything_is_deployed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "Session", Session)

    assert account().name == "account 210987654321 as arn:aws:iam::210987654321:user/jane"


@pytest.mark.parametrize(
    "error",
    [
        botocore.exceptions.NoCredentialsError(),
        botocore.exceptions.ClientError({"Error": {"Code": "ExpiredToken"}}, "GetCallerIdentity"),
    ],
)
def test_credentials_that_do_not_work_are_a_finding(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(boto3, "Session", lambda **_: Session(error))

    with pytest.raises(FindingsError, match=r"^UC9009: .*--local"):
        account()


@pytest.mark.parametrize(
    "error",
    [
        botocore.exceptions.EndpointConnectionError(endpoint_url="https://sts.us-east-1.amazonaws.com"),
        botocore.exceptions.ReadTimeoutError(endpoint_url="https://sts.us-east-1.amazonaws.com"),
        botocore.exceptions.ClientError({"Error": {"Code": "Throttling"}}, "GetCallerIdentity"),
        botocore.exceptions.ClientError(
            {"Error": {"Code": "InternalFailure"}, "ResponseMetadata": {"HTTPStatusCode": 500}},
            "GetCallerIdentity",
        ),
    ],
)
def test_nobody_is_told_to_sign_in_who_reached_no_aws(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(boto3, "Session", lambda **_: Session(error))

    with pytest.raises(FindingsError, match=r"^UC9009: .*STS could not be asked; try again"):
        account()


def test_a_profile_that_does_not_exist_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")

    with pytest.raises(FindingsError, match=r"^UC9009: .*no-such-profile"):
        account()


def test_a_profile_is_that_of_the_session_and_of_the_cdk_cli(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def session(*, profile_name: str | None) -> Session:
        asked.append(profile_name)
        return Session()

    monkeypatch.setattr(boto3, "Session", session)
    assert account("production").cdk_options == ("--profile", "production")
    assert account().cdk_options == ()
    assert asked == ["production", None]


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
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, str]
) -> None:
    monkeypatch.setitem(sys.modules, "ultracluster_local.errors", None)
    outcome = run(*command)
    assert outcome.code == 2
    assert outcome.stderr == (
        "error: Python module ultracluster_local is missing. Install ultracluster[local].\n"
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
    assert done.stdout == "error: Python module ultracluster_local is missing. Install ultracluster[local].\n"
