"""`ultracluster preflight` on the local AWS: the quick start passes with known warnings, and a missing prerequisite is reported."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ultracluster_cli._aws import local_target
from ultracluster_cli.main import main
from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

QUICKSTART = Path(__file__).parents[2] / "stacks" / "rollouts" / "quickstart.yaml"

# What is true of a fresh account, and of the stand-ins of the local AWS.
KNOWN = {
    "UC9406": "AWS Batch creates it on first use",
    "UC9408": "Amazon FSx creates it on first use",
    "UC9409": "IAM cannot simulate arn:aws:sts::123456789012:user/moto",
    "UC9444": "fake-ami-0123456789abcdef0",
    "UC9461": "quickstart was never rehearsed in us-east-2",
}

Preflight = Callable[..., int]


@pytest.fixture
def preflight(local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Preflight:
    monkeypatch.chdir(tmp_path)
    running = SimpleNamespace(endpoint=local_aws.endpoint, key=local_aws.key)
    monkeypatch.setattr(local_target, "status", lambda _: running)
    return lambda *options: main(["preflight", str(QUICKSTART), "--local", "--json", *options])


def test_the_quick_start_passes_on_a_fresh_local_aws_with_warnings_that_state_the_reason(
    preflight: Preflight, capsys: pytest.CaptureFixture[str]
) -> None:
    assert preflight() == 0
    shown = json.loads(capsys.readouterr().out)
    told = {row["code"]: row for row in shown["results"] if row["status"] not in {"PASS", "SKIP"}}
    assert told.keys() == KNOWN.keys()
    for code, fragment in KNOWN.items():
        assert told[code]["status"] == "WARN"
        assert fragment in told[code]["evidence"]
        assert told[code]["remedy"]
    assert sum(row["status"] == "PASS" for row in shown["results"]) >= 30
    reads = ("Describe", "Get", "BatchGet", "Simulate")
    assert all(call.partition(":")[2].startswith(reads) for call in shown["calls"])


def test_a_missing_prerequisite_is_reported_and_can_be_skipped(
    preflight: Preflight, local_aws: LocalAws, capsys: pytest.CaptureFixture[str]
) -> None:
    local_aws.client("ssm", "us-east-2").delete_parameter(Name="/cdk-bootstrap/hnb659fds/version")
    assert preflight() == 4
    answer = capsys.readouterr()
    assert "FAIL UC9405 us-east-2: us-east-2 is not bootstrapped" in answer.err
    rows = {row["code"]: row for row in json.loads(answer.out)["results"]}
    assert rows["UC9410"]["evidence"] == "waits for UC9405"

    assert preflight("--skip", "UC9405") == 0
    rows = {row["code"]: row for row in json.loads(capsys.readouterr().out)["results"]}
    assert rows["UC9405"]["evidence"] == "skipped by --skip"
    assert rows["UC9410"]["status"] == "PASS"
