"""The summary of a deployment, as tables and as JSON."""

import json
from typing import Any

import pytest
from tests.unit.cli.deploy.fake_deployment import READ_BACK

from ultracluster_cli.deploy import summary
from ultracluster_cli.deploy.deployment import DeployedStack
from ultracluster_cli.deploy.summary import print_next_steps, print_summary

CLUSTER = READ_BACK | {
    "reservation": READ_BACK["reservation"] | {"ends": None},
    "buckets": ["checkpoints", "compile-cache"],
}
DEPLOYED = [
    DeployedStack(name="training-us-east-2/Cluster (training-us-east-2-Cluster)", changed=False, seconds=1.25)
]


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "durations", lambda: {"cdk deploy": 12.34})


def show(
    capsys: pytest.CaptureFixture[str], cluster: dict[str, Any] = CLUSTER, *, as_json: bool = False
) -> str:
    print_summary([cluster], local=True, as_json=as_json, deployed=DEPLOYED)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "fact",
    [
        "(fake, no cost)",
        "4 x trn2.48xlarge",
        "64",
        "256 logical, 512 physical",
        "16 interfaces, 3,200 Gbit/s",
        "cr-0123456789abcdef0 (active; capacity-block; 4 instances; ends never)",
        "fs-0123456789abcdef0 (AVAILABLE): 4,800 GiB, 1,200 MB/s",
        "checkpoints",
        "compile-cache",
        "training (ENABLED)",
        "pretrain:3: 4 nodes, 16 Neuron and 16 EFA devices each",
        "CREATE_COMPLETE",
        "no changes",
        "12.3",
    ],
)
def test_the_table_shows_each_fact(capsys: pytest.CaptureFixture[str], fact: str) -> None:
    assert fact in show(capsys)


def test_a_cluster_without_a_reservation_is_shown_as_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert "on-demand capacity" in show(capsys, CLUSTER | {"reservation": None})


def test_the_title_names_a_real_account(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary([CLUSTER], local=False, as_json=False, deployed=[])

    shown = capsys.readouterr().out
    assert "in your account" in shown
    assert "local AWS" not in shown


def test_json_has_the_keys_that_the_documentation_promises(
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    told = json.loads(show(capsys, as_json=True))
    documented = (request.config.rootpath / "docs" / "reference" / "command-line.md").read_text()

    assert told["clusters"] == [CLUSTER]
    assert told["seconds"] == {"cdk deploy": 12.3}
    assert told["local"] is True
    assert told["changed"] is False
    assert [key for key in told if f"`{key}" not in documented] == []
    assert [key for key in told["clusters"][0] if f".{key}" not in documented] == []


def test_the_next_step_after_the_local_aws_is_a_real_account(capsys: pytest.CaptureFixture[str]) -> None:
    print_next_steps([CLUSTER], local=True)

    captured = capsys.readouterr()
    assert "cdk bootstrap" in captured.err
    assert captured.out == ""


def test_the_next_step_in_a_real_account_is_the_first_job(capsys: pytest.CaptureFixture[str]) -> None:
    print_next_steps([CLUSTER], local=False)

    assert capsys.readouterr().err == (
        "To submit pretrain: ultracluster jobs submit training pretrain --region us-east-2\n"
    )
