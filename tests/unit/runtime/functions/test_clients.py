"""Clients of functions."""

from typing import Any

import boto3
import pytest

from ultracluster_runtime.functions.clients import Clients


def test_each_client_is_made_once_when_it_is_first_used_and_gives_up_before_the_next_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[tuple[str, int, float]] = []

    def client(service: str, *, config: Any) -> object:
        made.append((service, config.retries["total_max_attempts"], config.read_timeout))
        return object()

    monkeypatch.setattr(boto3, "client", client)
    clients = Clients()
    assert made == []
    assert clients.batch is clients.batch is not clients.submitter
    assert clients.ssm is clients.ssm
    assert made == [("batch", 3, 10), ("batch", 1, 10), ("ssm", 1, 5)]
