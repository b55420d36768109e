"""`ultracluster status` shows a deployed cluster on one screen."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.operate.fake_aws import JOB, NODE, QUEUE, START, Aws

from ultracluster_cli.operate import status
from ultracluster_runtime.preflight.live_facts import LiveFact


def test_one_screen_has_stacks_block_nodes_queue_jobs_alarms_and_cost(run: Any, aws: Aws) -> None:
    assert aws.done == []

    shown = run("status").stdout

    for text in (
        "quickstart in us-east-2, account 123456789012",
        "Network CREATE_COMPLETE, Storage CREATE_COMPLETE, Cluster CREATE_COMPLETE",
        "cr-0123456789abcdef0 active: 3 of 4 instances free",
        "(in 12 days); jobs end from ",
        "1 x trn2.48xlarge running",
        "main ENABLED VALID: 1 running, 0 waiting",
        "1 of 1 in ALARM",
        "alarm-1: too hot",
        "USD so far at list prices, with the whole block, paid for in advance",
        JOB,
    ):
        assert text in shown
    assert len(shown.splitlines()) <= 24
    assert aws.done == []


def test_a_sick_node_is_named_with_its_faults_and_the_command(run: Any, aws: Aws) -> None:
    for node in (NODE, "i-that-is-gone"):
        aws.events.append(json.dumps({"InstanceId": node, "NodeFaults": 1, "Faults": ["DMA_ERROR"]}))

    shown = " ".join(run("status").stdout.split())

    assert f"{NODE}: DMA_ERROR; ultracluster nodes replace {NODE}" in shown
    assert "i-that-is-gone" not in shown
    (cluster,) = json.loads(run("status", "--json").stdout)["clusters"]
    assert cluster["sick"] == {NODE: "DMA_ERROR"}


def test_json_has_the_same_as_values(run: Any, aws: Aws) -> None:
    assert aws

    (cluster,) = json.loads(run("status", "--json").stdout)["clusters"]
    elapsed = (datetime.now(UTC) - START) / timedelta(hours=1)

    assert [stack["status"] for stack in cluster["stacks"]] == ["CREATE_COMPLETE"] * 3
    assert cluster["capacity"][0]["hours_left"] == pytest.approx(14 * 24 - elapsed, abs=0.1)
    assert [node["node"] for node in cluster["nodes"]] == [NODE]
    assert cluster["queues"] == [
        {"queue": "main", "state": "ENABLED", "status": "VALID", "running": 1, "waiting": 0, "to_resume": 0}
    ]
    assert float(cluster["cost"]["node_hours"]) == 14 * 24  # a block is paid for in advance
    assert cluster["cost"]["paid_in_advance_until"] == (START + timedelta(days=14)).isoformat()
    assert float(cluster["cost"]["usd_so_far"].lstrip("≈ ").replace(",", "")) > 14 * 24 * 4 * 35
    assert cluster["unread"] == []


def test_a_job_that_waits_for_its_resume_is_shown_with_what_it_waits_for(run: Any, aws: Aws) -> None:
    aws.endings.append(
        {
            "id": {"S": "ended"},
            "state": {"S": "waiting"},
            "name": {"S": "pretrain"},
            "queue": {"S": QUEUE},
            "reason": {"S": "Capacity Block cr-1 ends 2026-12-02 11:30 UTC"},
            "left": {"N": "3"},
            "request": {"S": "{}"},
        }
    )

    shown = run("status").stdout

    assert "main ENABLED VALID: 1 running, 0 waiting, 1 to resume" in shown
    assert "RESUME_PENDING" in shown
    assert "Capacity Block cr-1 ends 2026-12-02 11:30 UTC; it waits for" in shown
    assert "resumes left: 3" in shown


def test_an_array_of_another_tool_is_shown_with_the_states_of_its_children(run: Any, aws: Aws) -> None:
    children = {"RUNNING": 2, "RUNNABLE": 4}
    aws.job_kind = {"arrayProperties": {"size": 6, "statusSummary": children}}

    assert "6 children: 4 RUNNABLE, 2 RUNNING" in run("status").stdout


def test_what_cannot_be_read_is_named_and_the_rest_is_shown(run: Any, aws: Aws) -> None:
    aws.refused["cloudwatch"] = "AccessDenied"

    outcome = run("status")

    assert outcome.code == 0
    assert "warning: not read: alarms: " in outcome.stderr
    assert "main ENABLED VALID" in outcome.stdout


def test_nothing_deployed_is_said_with_the_next_command(run: Any, aws: Aws) -> None:
    aws.stacks.clear()

    outcome = run("status")

    assert "stacks     none" in outcome.stdout
    assert "To deploy it: ultracluster deploy" in outcome.stderr


def test_an_unknown_cluster_is_refused(run: Any, aws: Aws) -> None:
    assert aws

    assert run("status", "--cluster", "other").stderr.startswith("error: ")


def test_answers_of_live_tests_are_shown_with_their_date(
    run: Any, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert aws
    fact = LiveFact(id="L8", title="?", shown=True, date="2026-12-01", version="0.1.0")
    monkeypatch.setattr(status, "live_facts", lambda: (fact,))

    assert "live tests passed: 1, last run on 2026-12-01" in run("status").stderr
    assert json.loads(run("status", "--json").stdout)["live_tests"] == ["L8 passed on 2026-12-01"]


def test_draws_the_topology_and_the_block(run: Any, aws: Aws, tmp_path: Path) -> None:
    assert aws
    picture = tmp_path / "status.svg"

    assert run("status", "--picture", str(picture)).code == 0

    assert "cr-0123456789abcdef0: 4 nodes" in picture.read_text("utf-8")
    assert "now: training" in picture.read_text("utf-8")
