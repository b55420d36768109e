"""`ultracluster nodes` finds the nodes of clusters, and nothing else."""

import json
from typing import Any

import pytest
from tests.unit.cli.operate.fake_aws import JOB, NODE, Aws

from ultracluster_cli.operate import nodes


def test_lists_nodes_with_their_jobs(run: Any, aws: Aws) -> None:
    assert aws

    shown = run("nodes", "list", "quickstart").stdout

    assert "quickstart in us-east-2: 1 x trn2.48xlarge" in shown
    assert NODE in shown
    assert JOB in shown


def test_describes_the_health_of_a_node_and_what_to_do_next(run: Any, aws: Aws) -> None:
    assert aws

    outcome = run("nodes", "describe", "i-0123")
    document = json.loads(run("nodes", "describe", "i-0123", "--json").stdout)

    assert document["system_status"] == "impaired"
    assert document["events"] == ["instance-retirement: degraded hardware"]
    assert f"ultracluster nodes replace {NODE} --region us-east-2" in outcome.stderr


def test_an_instance_of_no_cluster_and_an_ambiguous_start_are_refused(run: Any, aws: Aws) -> None:
    aws.nodes = ["i-0a", "i-0b"]

    assert run("nodes", "describe", "i-0").stderr.startswith("error: 2 nodes in us-east-2 match 'i-0'")
    assert run("nodes", "replace", "i-1", "--yes").stderr.startswith(
        "error: no nodes in us-east-2 match 'i-1'"
    )
    assert aws.done == []


def test_a_node_is_replaced_after_a_checkpoint_of_its_job(
    run: Any, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes.time, "sleep", lambda _: setattr(aws, "job_state", "FAILED"))

    assert run("nodes", "replace", NODE, "--yes").code == 0
    assert aws.done == [f"send_command ['{NODE}']", f"terminate_instances ['{NODE}']"]

    aws.done.clear()
    assert run("nodes", "replace", NODE, "--yes", "--now").code == 0
    assert aws.done == [f"terminate_instances ['{NODE}']"]


def test_a_shell_is_opened_on_the_only_node_that_matches(
    run: Any, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert aws
    opened: list[Any] = []
    monkeypatch.setattr(nodes, "open_shell", lambda node, **given: opened.append((node, given["region"])))

    assert run("nodes", "shell", "i-0").code == 0
    assert opened == [(NODE, "us-east-2")]
