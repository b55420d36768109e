"""Deployment targets: accounts with valid credentials, and the local AWS."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import botocore.exceptions
import pytest
from tests.unit.stacks.conftest import QUICKSTART

from ultracluster_cli._aws import local_target
from ultracluster_cli._aws.targets import account, local_aws
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.seeding.seed_client import SeedContainerImage
from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.config import load_rollout


class Session:
    """A session of boto3 whose STS answers or refuses."""

    region_name = None

    def __init__(self, error: Exception | None = None, *, profile_name: str | None = None) -> None:
        self._error, self.profile_name = error, profile_name

    def client(self, service: str, *, region_name: str) -> "Session":
        assert (service, region_name) == ("sts", "us-east-1")
        return self

    def get_caller_identity(self) -> dict[str, Any]:
        if self._error:
            raise self._error
        return {"Account": "210987654321", "Arn": "arn:aws:iam::210987654321:user/jane"}


def test_the_account_is_named_before_anything_is_deployed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "Session", Session)

    with account() as target:
        assert target.name == "account 210987654321 as arn:aws:iam::210987654321:user/jane"


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

    with pytest.raises(FindingsError, match=r"^UC9009: .*--local"), account():
        pass


def test_a_profile_that_does_not_exist_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")

    with pytest.raises(FindingsError, match=r"^UC9009: .*no-such-profile"), account():
        pass


def test_a_profile_is_that_of_the_session_and_of_the_cdk_cli(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def session(*, profile_name: str | None) -> Session:
        asked.append(profile_name)
        return Session()

    monkeypatch.setattr(boto3, "Session", session)
    with account("production") as named, account() as own:
        assert named.cdk_options == ("--profile", "production")
        assert own.cdk_options == ()
    assert asked == ["production", None]


@pytest.mark.parametrize(
    ("registry", "region"),
    [
        ("dkr.ecr.us-east-2.amazonaws.com", "us-east-2"),
        ("dkr.ecr.cn-north-1.amazonaws.com.cn", "cn-north-1"),
    ],
)
def test_images_of_jobs_in_registries_of_the_local_account_are_seeded(
    registry: str, region: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = QUICKSTART.read_text()
    image = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20"
    assert image in text
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(text.replace(image, f"{ACCOUNT}.{registry}/training:1"))
    (wave,) = load_rollout(rollout).config.waves
    seeded: dict[str, Any] = {}
    monkeypatch.setattr(local_target, "status", lambda _: SimpleNamespace(endpoint="http://127.0.0.1:1"))
    monkeypatch.setattr(local_target, "seed", lambda **wanted: seeded.update(wanted))

    with local_aws(wave.clusters, background=tmp_path, temporary=tmp_path, steps={}):
        pass

    assert seeded["container_images"] == {
        SeedContainerImage(repository="training", tag="1", region=region),
    }
