"""Clients that reach only the local AWS."""

from pathlib import Path

import pytest
from botocore.exceptions import EndpointConnectionError

from ultracluster_local.instance.clients import Clients, service_model

CLOSED = "http://127.0.0.1:1"


def test_each_service_and_region_has_one_client() -> None:
    clients = Clients(endpoint=CLOSED, key="LOCAL1")

    one = clients.get("sqs", "us-east-1")

    assert clients.get("sqs", "us-east-1") is one
    assert clients.get("sqs", "us-east-2").meta.region_name == "us-east-2"
    assert clients.get("sns", "us-east-1").meta.service_model.service_name == "sns"


def test_profiles_endpoints_and_credentials_of_the_user_have_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text("[default]\nregion = eu-west-1\nendpoint_url = https://example.com\n")
    (tmp_path / "credentials").write_text("[default]\naws_access_key_id = REAL\naws_secret_access_key = x\n")
    for name, value in (
        ("AWS_PROFILE", "missing"),
        ("AWS_CONFIG_FILE", str(tmp_path / "config")),
        ("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials")),
        ("AWS_ENDPOINT_URL", "https://example.com"),
        ("AWS_ACCESS_KEY_ID", "REAL"),
    ):
        monkeypatch.setenv(name, value)

    client = Clients(endpoint=CLOSED, key="LOCAL1").get("sqs", "us-east-1")

    assert client.meta.endpoint_url == CLOSED
    assert client._get_credentials().access_key == "LOCAL1"


def test_a_call_that_cannot_connect_is_not_repeated() -> None:
    client = Clients(endpoint=CLOSED, key="LOCAL1").get("sqs", "us-east-1")
    tried = []
    client.meta.events.register("before-send", lambda **_: tried.append(1))

    with pytest.raises(EndpointConnectionError):
        client.list_queues()

    assert tried == [1]


def test_the_model_of_a_service_is_read_once() -> None:
    assert service_model("sqs") is service_model("sqs")
    assert "CreateQueue" in service_model("sqs").operation_names
