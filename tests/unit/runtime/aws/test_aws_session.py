"""Opening a boto3 session."""

from pathlib import Path

import pytest

from ultracluster_runtime.aws.aws_session import aws_session
from ultracluster_spec.findings import FindingsError


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config"
    file.write_text("[profile training]\nregion = us-east-2\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
    monkeypatch.delenv("AWS_PROFILE", raising=False)


def test_profile_of_the_configuration_is_used() -> None:
    session = aws_session("training")

    assert (session.profile_name, session.region_name) == ("training", "us-east-2")


def test_default_credentials_need_no_profile() -> None:
    assert aws_session(None).profile_name == "default"


def test_missing_profile_is_a_finding() -> None:
    with pytest.raises(FindingsError, match=r"^UC9009: .*nobody.*aws configure list-profiles"):
        aws_session("nobody")
