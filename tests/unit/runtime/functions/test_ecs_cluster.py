"""The function that reads the ECS cluster of a compute environment for CloudFormation."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fake_clients import FakeClients

from ultracluster_runtime.functions import ecs_cluster

ARN = "arn:aws:ecs:us-east-2:123456789012:cluster/AWSBatch-fleet"
CONTEXT = SimpleNamespace(log_stream_name="stream")


class _Answers:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, found: list[dict[str, Any]]) -> None:
        self.sent: list[dict[str, Any]] = []
        batch = SimpleNamespace(describe_compute_environments=lambda **_: {"computeEnvironments": found})
        monkeypatch.setattr(ecs_cluster, "Clients", lambda **_: FakeClients(lambda *_: batch))
        monkeypatch.setattr(ecs_cluster.urllib.request, "urlopen", self._open)

    def _open(self, request: Any, timeout: float) -> Any:
        assert (request.get_method(), timeout) == ("PUT", 30)
        self.sent.append(json.loads(request.data))
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def event(kind: str, **more: str) -> dict[str, Any]:
    return {
        "RequestType": kind,
        "ResponseURL": "https://cloudformation.invalid/answer",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Cluster",
        "ResourceProperties": {"ComputeEnvironment": "arn:fleet"},
        **more,
    }


@pytest.mark.parametrize("kind", ["Create", "Update"])
def test_cluster_is_named(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    answers = _Answers(monkeypatch, found=[{"ecsClusterArn": ARN}])
    ecs_cluster.handler(event(kind), CONTEXT)
    (sent,) = answers.sent
    assert (sent["Status"], sent["PhysicalResourceId"], sent["Data"]) == ("SUCCESS", ARN, {"Arn": ARN})


def test_deletion_succeeds_without_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = _Answers(monkeypatch, found=[])
    ecs_cluster.handler(event("Delete", PhysicalResourceId=ARN), CONTEXT)
    assert answers.sent[0]["Status"] == "SUCCESS"
    assert answers.sent[0]["PhysicalResourceId"] == ARN


@pytest.mark.parametrize("found", [[], [{"ecsClusterArn": ""}]], ids=["no environment", "no cluster"])
def test_missing_cluster_fails_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, found: list[dict[str, Any]]
) -> None:
    answers = _Answers(monkeypatch, found=found)
    ecs_cluster.handler(event("Create"), CONTEXT)
    assert answers.sent[0]["Status"] == "FAILED"
    assert "log stream stream" in answers.sent[0]["Reason"]
