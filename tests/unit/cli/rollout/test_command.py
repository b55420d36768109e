"""`ultracluster rollout` around the CDK CLI and AWS, which small fakes stand in for (see tests/integration)."""

import json
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from tests.unit.cli.rollout.rollout_simulation import CLUSTERS, Project, Run, make_project, template

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.rollout import step_runner as rollout_steps
from ultracluster_cli.rollout.stack_status import template_digest
from ultracluster_runtime.preflight.check import failed, passed, warned
from ultracluster_runtime.preflight.run import CheckResult as Checked

pytestmark = pytest.mark.process


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path, run: Run) -> Project:
    return make_project(tmp_path, monkeypatch, quickstart, run)


def test_deploys_wave_after_wave_and_tells_it(project: Project) -> None:
    outcome = project.rollout("--json")

    assert outcome.code == 0, outcome.stderr
    assert project.deployed()[0] == "canary-us-east-1"
    assert sorted(project.deployed()) == sorted(CLUSTERS)
    told = json.loads(outcome.stdout)
    assert told["ended"] == "finished"
    assert {one["state"] for one in told["clusters"]} == {"done"}


def test_a_deployment_that_fails_stops_before_the_next_wave_and_resumes(project: Project) -> None:
    project.fails("canary-us-east-1")
    first = project.rollout()
    project.fails()
    again = project.rollout("--resume")

    assert first.code == ExitCode.FAILED
    assert (
        "UC9609: canary-us-east-1: deploy: cdk deploy ended with code 1: Error: no such luck" in first.stderr
    )
    assert again.code == 0, again.stderr
    assert project.deployed().count("canary-us-east-1") == 2
    assert sorted(set(project.deployed())) == sorted(CLUSTERS)


def test_what_preflight_finds_stops_before_anything_is_deployed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        Checked(code="UC9420", title="t", key=("us-east-1",), outcome=outcome)
        for outcome in (failed("no such zone", "Name another"), warned("odd", "Look"), passed("fine"))
    ]

    def run_checks(_: Any, __: Any, *, skip: Any) -> list[Checked]:
        return [one for one in found if one.code not in skip]

    monkeypatch.setattr(rollout_steps, "run_checks", run_checks)
    stopped = project.rollout()
    deployed = project.deployed()
    skipped = project.rollout("--resume", "--skip", "UC9420")

    assert stopped.code == ExitCode.FAILED
    assert "preflight: UC9420 us-east-1: no such zone. Name another" in stopped.stderr
    assert "odd" not in stopped.stderr
    assert deployed == []
    assert skipped.code == 0
    assert project.rollout("--skip", "UC0000").code == 2


def test_an_alarm_stops_before_the_next_wave(project: Project) -> None:
    project.aws.alarms["canary-us-east-1-Cluster"] = "ALARM"

    outcome = project.rollout()

    assert outcome.code == ExitCode.FAILED
    assert "UC9609: canary-us-east-1: alarms: alarm canary-us-east-1-Cluster: too hot" in outcome.stderr
    assert "Not started: production." in outcome.stderr
    assert project.deployed() == ["canary-us-east-1"]


def test_what_reminds_of_idle_money_or_a_near_end_does_not_stop_a_rollout(project: Project) -> None:
    for name in ("Unused", "DrainComing", "composite"):
        project.aws.alarms[f"canary-us-east-1-Cluster-{name}"] = "ALARM"

    outcome = project.rollout()

    assert outcome.code == 0, outcome.stderr
    assert "3 alarms did not fire" in outcome.stderr


@pytest.mark.parametrize("name", ["own", "own-composite"])
def test_an_alarm_of_your_own_stops_a_rollout_whatever_it_is_called(project: Project, name: str) -> None:
    project.aws.alarms[f"canary-us-east-1-Cluster-{name}"] = "ALARM"

    outcome = project.rollout()

    assert outcome.code == ExitCode.FAILED
    assert f"alarms: alarm canary-us-east-1-Cluster-{name}: too hot" in outcome.stderr


def test_a_stack_in_a_bad_state_does_not_pass(project: Project) -> None:
    project.aws.status = "UPDATE_ROLLBACK_COMPLETE"

    outcome = project.rollout()

    assert outcome.code == ExitCode.FAILED
    assert "stacks: canary-us-east-1-Cluster is UPDATE_ROLLBACK_COMPLETE" in outcome.stderr


def test_what_somebody_else_has_deployed_since_the_plan_is_not_overwritten(project: Project) -> None:
    project.aws.alarms["canary-us-east-1-Cluster"] = "ALARM"
    project.rollout()
    (project.folder / "aws" / "pretrain-us-east-2-Cluster").write_text(json.dumps(template("by hand")))
    project.aws.alarms.clear()

    outcome = project.rollout("--resume")

    assert outcome.code == ExitCode.FAILED
    assert "pretrain-us-east-2-Cluster has changed since this rollout was planned" in outcome.stderr
    assert "pretrain-us-east-2" not in project.deployed()


def test_refuses_two_at_once(project: Project) -> None:
    rollouts = project.folder / ".ultracluster" / "rollouts"
    rollouts.mkdir(parents=True)
    (rollouts / "lock.pid").write_text("4711")
    with FileLock(rollouts / "lock"):
        refused = project.rollout()
    # A process that has died holds no lock, whatever its file says.
    taken = project.rollout()

    assert (refused.code, taken.code) == (2, 0)
    assert "UC9601: another rollout is running here (process 4711)" in refused.stderr


def test_refuses_stacks_that_are_being_changed(project: Project) -> None:
    assert project.rollout().code == 0
    project.wants("two")
    project.aws.status = "UPDATE_IN_PROGRESS"

    outcome = project.rollout()

    assert outcome.code == 2
    assert outcome.stderr.count("UC9602") == 3
    assert len(project.deployed()) == 3


def test_a_change_set_that_was_never_executed_is_no_change_under_way(project: Project) -> None:
    for name in CLUSTERS:
        (project.folder / "aws" / f"{name}-Cluster").write_text(json.dumps(template("never executed")))
    project.aws.status = "REVIEW_IN_PROGRESS"

    outcome = project.rollout()

    assert "UC9602" not in outcome.stderr
    assert project.deployed() == ["canary-us-east-1"]


def test_a_plan_that_stops_is_shown_and_nothing_begins(project: Project) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Delete", "Properties": {}}
    with_bucket = template("one")
    with_bucket["Resources"]["Checkpoints"] = bucket
    (project.folder / "template.json").write_text(json.dumps(with_bucket))
    assert project.rollout().code == 0
    project.wants("one")

    stopped = project.rollout("--wave", "canary")

    assert stopped.code == ExitCode.STOPPED
    assert "Checkpoints" in stopped.stdout
    assert len(project.deployed()) == 3


def test_options_that_exclude_each_other_are_refused(project: Project) -> None:
    assert project.rollout("--resume", "--restart").code == 2
    assert project.rollout("--resume", "--wave", "canary").code == 2


def test_a_journal_that_cannot_be_read_is_named(project: Project) -> None:
    folder = project.folder / ".ultracluster" / "rollouts" / "20260101T000000000000Z"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text("no journal\n")
    refused = project.rollout()
    (folder / "journal.jsonl").write_text('{"kind": "plan')  # died while it wrote its first line
    taken = project.rollout()

    assert (refused.code, taken.code) == (2, 0)
    assert "UC9608" in refused.stderr


def test_a_digest_takes_what_cloudformation_does_not_keep_for_the_same() -> None:
    assert template_digest({"a": "ä", "b": 1}) == template_digest({"b": 1, "a": "?"})
    assert template_digest({"a": "ä"}) != template_digest({"a": "b"})
