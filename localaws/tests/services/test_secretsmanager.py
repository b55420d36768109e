"""Secrets: names, marks for deletion and stages."""

from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import LocalAws


@pytest.fixture
def secrets(local_aws: LocalAws) -> Any:
    client = local_aws.client("secretsmanager")
    client.create_secret(Name="one", SecretString="x")
    return client


@pytest.mark.parametrize(("name", "taken"), [("a/b_+=.@!-1", True), ("a b", False), ("a:b", False)])
def test_names_have_some_characters(secrets: Any, name: str, *, taken: bool) -> None:
    if taken:
        secrets.create_secret(Name=name, SecretString="x")
    else:
        assert refusal(secrets.create_secret, Name=name, SecretString="x")[0] == "ValidationException"


def test_a_secret_that_is_marked_for_deletion_takes_nothing_until_it_is_restored(secrets: Any) -> None:
    secrets.delete_secret(SecretId="one", RecoveryWindowInDays=7)

    assert "already scheduled" in refusal(secrets.create_secret, Name="one", SecretString="y")[1]
    assert "marked for deletion" in refusal(secrets.put_secret_value, SecretId="one", SecretString="y")[1]
    secrets.restore_secret(SecretId="one")
    secrets.put_secret_value(SecretId="one", SecretString="y")
    assert secrets.get_secret_value(SecretId="one", VersionStage="AWSPREVIOUS")["SecretString"] == "x"


def test_a_stage_needs_a_version(secrets: Any) -> None:
    asked = {"SecretId": "one", "VersionStage": "AWSPREVIOUS"}

    assert "staging label: AWSPREVIOUS" in refusal(secrets.get_secret_value, **asked)[1]
