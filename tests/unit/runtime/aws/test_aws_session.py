"""The clients of a profile."""

from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, InvalidConfigError, NoCredentialsError

from ultracluster_runtime.aws.aws_session import clients_of, is_not_signed_in
from ultracluster_spec.findings import FindingsError


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config"
    file.write_text("[profile training]\nregion = us-east-2\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


def test_the_region_is_that_of_the_profile_and_default_credentials_need_none() -> None:
    assert clients_of("training").region == "us-east-2"
    assert clients_of("training")("sts").meta.region_name == "us-east-2"
    assert clients_of(None).region is None


@pytest.mark.parametrize("region", ["us-east-2 ", "europe"])
def test_a_region_that_is_none_is_refused_before_its_name_is_looked_up(region: str) -> None:
    with pytest.raises(FindingsError, match=r"^UC2102: Region"):
        clients_of(None)("sts", region)


def test_an_endpoint_that_is_none_is_an_error_of_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:none")
    with pytest.raises(InvalidConfigError):
        clients_of("training")("sts")


def test_missing_profile_is_a_finding() -> None:
    with pytest.raises(FindingsError, match=r"^UC9009: .*nobody.*aws configure list-profiles"):
        clients_of("nobody")


@pytest.mark.parametrize(
    ("error", "is_out"),
    [
        (NoCredentialsError(), True),
        (ClientError({"Error": {"Code": "ExpiredToken"}}, "ListJobs"), True),
        (ClientError({"Error": {"Code": "ExpiredTokenException"}}, "ListJobs"), True),
        (ClientError({"Error": {"Code": "AccessDeniedException"}}, "ListJobs"), False),
        (EndpointConnectionError(endpoint_url="https://batch.us-east-2.amazonaws.com"), False),
    ],
    ids=["none", "expired", "expired of JSON", "denied", "no network"],
)
def test_who_has_no_valid_credentials_is_not_signed_in(error: Exception, *, is_out: bool) -> None:
    assert is_not_signed_in(error) == is_out
