"""`ultracluster rollout` around the CDK CLI and AWS, which small fakes stand in for (see tests/integration)."""

import fcntl
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import botocore.exceptions
import pytest

from ultracluster_cli import rolling_out, rollout_steps
from ultracluster_cli.cluster_targets import one_target
from ultracluster_cli.jobs_submission import Submitted
from ultracluster_cli.rollout_hands import ThreadHands
from ultracluster_cli.rollout_runs import new_run_folder
from ultracluster_cli.rollout_stacks import template_digest
from ultracluster_cli.rollout_steps import Steps
from ultracluster_cli.targets import Target
from ultracluster_cli.toolchain import Toolchain
from ultracluster_runtime.preflight.check import failed, passed, warned
from ultracluster_runtime.preflight.run import Result as Checked
from ultracluster_runtime.rollout.drive import Result
from ultracluster_runtime.rollout.machine import Task
from ultracluster_runtime.rollout.plan import ALARMS, DEPLOY, PlannedCluster, PlannedStack, RolloutPlan

pytestmark = pytest.mark.process

Run = Callable[..., Any]
CLUSTERS = ("canary-us-east-1", "pretrain-us-east-2", "finetune-ap-southeast-4")

FAKE_CDK = """#!{python}
import json, pathlib, sys
arguments = sys.argv[1:]
if arguments == ["--version"]:
    print("2.1148.1 (build fake)")
    sys.exit()
def option(name):
    return arguments[arguments.index(name) + 1]
if arguments[0] == "synth":
    root = pathlib.Path(option("--output"))
    template = json.loads(pathlib.Path("template.json").read_text())
    stages = {{}}
    for name in {clusters}:
        stage = root / f"assembly-{{name}}"
        stage.mkdir(parents=True)
        stages[name] = {{"type": "cdk:cloud-assembly",
                         "properties": {{"directoryName": stage.name, "displayName": name}}}}
        region = name.split("-", 1)[1]
        stack = {{"type": "aws:cloudformation:stack", "environment": f"aws://unknown-account/{{region}}",
                  "properties": {{"stackName": f"{{name}}-Cluster", "templateFile": "t.json"}}}}
        (stage / "manifest.json").write_text(json.dumps({{"artifacts": {{"s": stack}}}}))
        (stage / "t.json").write_text(json.dumps(template))
    (root / "manifest.json").write_text(json.dumps({{"artifacts": stages}}))
else:
    name = arguments[1].removesuffix("/**")
    with open("deployed.log", "a") as log:
        log.write(name + (f"@{{option('--profile')}}" if "--profile" in arguments else "") + "\\n")
    if name in pathlib.Path("failing").read_text().split():
        print("Error: no such luck")
        sys.exit(1)
    template = pathlib.Path(option("--app"), f"assembly-{{name}}", "t.json").read_text()
    pathlib.Path("aws", f"{{name}}-Cluster").write_text(template)
"""


class Aws:
    """CloudFormation, of which the fake CDK CLI writes the stacks into a folder, and CloudWatch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = "CREATE_COMPLETE"
        self.alarms: dict[str, str] = {}
        self.exceptions = botocore.exceptions

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        if not (self.folder / StackName).exists():
            said: Any = {"Error": {"Code": "ValidationError", "Message": f"{StackName} does not exist"}}
            raise botocore.exceptions.ClientError(said, "DescribeStacks")
        return {"Stacks": [{"StackStatus": self.status}]}

    def get_template(self, *, StackName: str, TemplateStage: str) -> dict[str, Any]:  # noqa: N803 - likewise
        assert TemplateStage == "Original"
        return {"TemplateBody": json.loads((self.folder / StackName).read_text())}

    def get_paginator(self, operation: str) -> "Aws":
        assert operation == "list_stack_resources"
        return self

    def paginate(self, *, StackName: str) -> list[Any]:  # noqa: N803 - likewise
        alarms = [
            {
                "ResourceType": f"AWS::CloudWatch::{kind}",
                "LogicalResourceId": logical_id,
                "PhysicalResourceId": name,
            }
            for kind, logical_id, name in (
                ("Alarm", "ClusterAlarmsEccE5A0CE8B", StackName),
                ("Alarm", "ClusterAlarmsUnused29D0C7F1", f"{StackName}-Unused"),
                ("Alarm", "ClusterAlarmsDrainComing0A1B2C3D", f"{StackName}-DrainComing"),
                ("Alarm", "OwnUnused29D0C7F1", f"{StackName}-own"),
                ("CompositeAlarm", "ClusterAlarmsCluster12345678", f"{StackName}-composite"),
                ("CompositeAlarm", "OwnComposite12345678", f"{StackName}-own-composite"),
            )
        ]
        topic = {"ResourceType": "AWS::SNS::Topic", "LogicalResourceId": "Topic"}
        return [{"StackResourceSummaries": [*alarms, topic]}]

    def describe_alarms(self, *, AlarmNames: list[str], **_: Any) -> dict[str, Any]:  # noqa: N803 - likewise
        return {
            "MetricAlarms": [
                {"AlarmName": name, "StateValue": self.alarms.get(name, "OK"), "StateReason": "too hot"}
                for name in AlarmNames
            ]
        }


def template(text: str) -> dict[str, Any]:
    return {"Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": text}}}}


class Project:
    def __init__(self, folder: Path, run: Run, aws: Aws) -> None:
        self.folder, self.aws, self._run = folder, aws, run

    def rollout(self, *arguments: str) -> Any:
        return self._run("rollout", "--yes", "--bake", "0", *arguments)

    def wants(self, text: str) -> None:
        (self.folder / "template.json").write_text(json.dumps(template(text)))

    def fails(self, *names: str) -> None:
        (self.folder / "failing").write_text("\n".join(names))

    def deployed(self) -> list[str]:
        log = self.folder / "deployed.log"
        return log.read_text().split() if log.exists() else []

    def there(self, name: str) -> str:
        read = json.loads((self.folder / "aws" / f"{name}-Cluster").read_text())
        return str(read["Resources"]["Topic"]["Properties"]["DisplayName"])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path, run: Run) -> Project:
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text((quickstart.parent / "two-waves.yaml").read_text())
    (tmp_path / "aws").mkdir()
    cdk = tmp_path / "node_modules" / ".bin" / "cdk"
    cdk.parent.mkdir(parents=True)
    cdk.write_text(FAKE_CDK.format(python=sys.executable, clusters=CLUSTERS))
    cdk.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    aws = Aws(tmp_path / "aws")

    @contextmanager
    def account(profile: str | None = None) -> Iterator[Target]:
        given = os.environ.get("FAKE_ACCOUNT", "123456789012")
        yield target(aws, account="999999999999" if profile else given, profile=profile)

    monkeypatch.setattr(rolling_out, "account", account)
    monkeypatch.setattr(rollout_steps, "run_checks", lambda *_, **__: [])  # see tests of preflight
    project = Project(tmp_path, run, aws)
    project.wants("one")
    project.fails()
    return project


def target(aws: Any, *, account: str = "123456789012", profile: str | None = None) -> Target:
    return Target(
        name=f"account {account}",
        local=False,
        environment=os.environ,
        client=lambda *_: aws,
        account=account,
        profile=profile,
    )


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

    assert first.code == 3
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

    def run_checks(_: Any, __: Any, *, left_out: Any) -> list[Checked]:
        return [one for one in found if one.code not in left_out]

    monkeypatch.setattr(rollout_steps, "run_checks", run_checks)
    stopped = project.rollout()
    deployed = project.deployed()
    skipped = project.rollout("--resume", "--skip", "UC9420")

    assert stopped.code == 3
    assert "preflight: UC9420 us-east-1: no such zone. Name another" in stopped.stderr
    assert "odd" not in stopped.stderr
    assert deployed == []
    assert skipped.code == 0
    assert project.rollout("--skip", "UC0000").code == 2


def test_an_alarm_stops_before_the_next_wave(project: Project) -> None:
    project.aws.alarms["canary-us-east-1-Cluster"] = "ALARM"

    outcome = project.rollout()

    assert outcome.code == 3
    assert "UC9609: canary-us-east-1: alarms: alarm canary-us-east-1-Cluster: too hot" in outcome.stderr
    assert "Not touched: production." in outcome.stderr
    assert project.deployed() == ["canary-us-east-1"]


def test_what_reminds_of_idle_money_or_a_near_end_does_not_stop_a_rollout(project: Project) -> None:
    for name in ("Unused", "DrainComing", "composite"):
        project.aws.alarms[f"canary-us-east-1-Cluster-{name}"] = "ALARM"

    outcome = project.rollout()

    assert outcome.code == 0, outcome.stderr
    assert "3 alarms quiet" in outcome.stderr


@pytest.mark.parametrize("name", ["own", "own-composite"])
def test_an_alarm_of_your_own_stops_a_rollout_whatever_it_is_called(project: Project, name: str) -> None:
    project.aws.alarms[f"canary-us-east-1-Cluster-{name}"] = "ALARM"

    outcome = project.rollout()

    assert outcome.code == 3
    assert f"alarms: alarm canary-us-east-1-Cluster-{name}: too hot" in outcome.stderr


def test_a_stack_in_a_bad_state_does_not_pass(project: Project) -> None:
    project.aws.status = "UPDATE_ROLLBACK_COMPLETE"

    outcome = project.rollout()

    assert outcome.code == 3
    assert "stacks: canary-us-east-1-Cluster is UPDATE_ROLLBACK_COMPLETE" in outcome.stderr


def test_what_somebody_else_has_deployed_since_the_plan_is_not_overwritten(project: Project) -> None:
    project.aws.alarms["canary-us-east-1-Cluster"] = "ALARM"
    project.rollout()
    (project.folder / "aws" / "pretrain-us-east-2-Cluster").write_text(json.dumps(template("by hand")))
    project.aws.alarms.clear()

    outcome = project.rollout("--resume")

    assert outcome.code == 3
    assert (
        "pretrain-us-east-2-Cluster has another template than when this rollout was planned" in outcome.stderr
    )
    assert "pretrain-us-east-2" not in project.deployed()


def test_refuses_two_at_once(project: Project) -> None:
    rollouts = project.folder / ".ultracluster" / "rollouts"
    rollouts.mkdir(parents=True)
    with (rollouts / "lock").open("w") as lock:
        lock.write("4711")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = project.rollout()
    # A process that has died holds no lock, whatever its file says.
    taken = project.rollout()

    assert (refused.code, taken.code) == (2, 0)
    assert "UC9601: another rollout runs here (process 4711)" in refused.stderr


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


def test_an_unfinished_rollout_is_resumed_or_given_up(project: Project) -> None:
    project.fails("canary-us-east-1")
    project.rollout()
    project.fails()

    refused, restarted = project.rollout(), project.rollout("--restart")
    nothing_left = project.rollout("--resume")

    assert (refused.code, restarted.code, nothing_left.code) == (2, 0, 2)
    assert "UC9603" in refused.stderr
    assert "UC9604: " in nothing_left.stderr
    assert "the last rollout is over" in nothing_left.stderr


def test_resuming_needs_a_rollout(project: Project) -> None:
    outcome = project.rollout("--resume")

    assert outcome.code == 2
    assert "UC9604" in outcome.stderr
    assert "there was none" in outcome.stderr


def test_resuming_refuses_a_file_that_says_something_else_now(project: Project) -> None:
    project.fails("canary-us-east-1")
    project.rollout()
    project.fails()
    file = project.folder / "rollout.yaml"
    text = file.read_text()

    file.write_text(text.replace("nodes: 16", "nodes: 15"))
    changed = project.rollout("--resume")
    file.write_text("# a comment says nothing\n" + text)
    commented = project.rollout("--resume")

    assert (changed.code, commented.code) == (2, 0)
    assert "UC9605" in changed.stderr


def test_resuming_refuses_another_account(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.fails("canary-us-east-1")
    project.rollout()
    project.fails()

    monkeypatch.setenv("FAKE_ACCOUNT", "210987654321")
    elsewhere = project.rollout("--resume")
    monkeypatch.delenv("FAKE_ACCOUNT")
    there = project.rollout("--resume")

    assert (elsewhere.code, there.code) == (2, 0)
    assert "UC9606" in elsewhere.stderr


def profile_of(project: Project, cluster: str, profile: str) -> None:
    file = project.folder / "rollout.yaml"
    text = file.read_text()
    named = f"- name: {cluster}\n        "
    file.write_text(text.replace(f"{named}region", f"{named}profile: {profile}\n        region"))


def test_each_cluster_goes_to_the_account_of_its_profile_also_when_resumed(project: Project) -> None:
    profile_of(project, "pretrain", "production")
    project.fails("pretrain-us-east-2")
    stopped = project.rollout()
    project.fails()
    resumed = project.rollout("--resume")

    assert (stopped.code, resumed.code) == (3, 0)
    assert "account 123456789012; account 999999999999" in stopped.stderr
    assert sorted(set(project.deployed())) == [
        "canary-us-east-1",
        "finetune-ap-southeast-4",
        "pretrain-us-east-2@production",
    ]


def test_a_cluster_that_has_left_a_file_with_profiles_is_not_rolled_back_somewhere(project: Project) -> None:
    profile_of(project, "pretrain", "production")
    assert project.rollout().code == 0
    project.wants("two")
    assert project.rollout().code == 0
    file = project.folder / "rollout.yaml"
    kept = file.read_text()
    file.write_text(kept.replace("- name: finetune\n        region", "- name: other\n        region"))

    gone = project.rollout("--rollback", "production")
    file.write_text(kept)
    there = project.rollout("--rollback", "production")

    assert (gone.code, there.code) == (2, 0)
    assert "UC9665" in gone.stderr
    assert project.there("pretrain-us-east-2") == "one"


def test_a_wave_goes_back_to_what_an_earlier_rollout_had_deployed(project: Project) -> None:
    assert project.rollout().code == 0
    project.wants("two")
    project.aws.alarms["canary-us-east-1-Cluster"] = "ALARM"
    assert project.rollout().code == 3

    outcome = project.rollout("--rollback", "canary")

    assert outcome.code == 0, outcome.stderr
    assert [project.there(name) for name in CLUSTERS] == ["one", "one", "one"]
    assert project.deployed().count("canary-us-east-1") == 3
    assert "UC9604" in project.rollout("--resume").stderr  # the rollout that was taken back is over


def test_a_wave_goes_back_to_what_was_really_there_and_not_to_the_latest_rollout(project: Project) -> None:
    for text in ("one", "two"):
        project.wants(text)
        assert project.rollout("--wave", "canary").code == 0
    (project.folder / "aws" / "canary-us-east-1-Cluster").write_text(json.dumps(template("one")))
    project.wants("three")
    assert project.rollout("--wave", "canary").code == 0

    outcome = project.rollout("--rollback", "canary")

    assert outcome.code == 0, outcome.stderr
    assert project.there("canary-us-east-1") == "one"


@pytest.mark.parametrize(
    ("before", "said"), [(None, "was not there before"), ("by hand", "no rollout that is kept here has made")]
)
def test_a_wave_cannot_go_back_to_what_is_not_kept(project: Project, before: str | None, said: str) -> None:
    if before:
        (project.folder / "aws" / "canary-us-east-1-Cluster").write_text(json.dumps(template(before)))
    assert project.rollout().code == 0

    refused, unknown = project.rollout("--rollback", "canary"), project.rollout("--rollback", "nothing")

    assert (refused.code, unknown.code) == (2, 2)
    assert "UC9607" in refused.stderr
    assert said in refused.stderr
    assert "UC9607" in unknown.stderr


def test_a_plan_that_stops_is_shown_and_nothing_begins(project: Project) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Delete", "Properties": {}}
    with_bucket = template("one")
    with_bucket["Resources"]["Checkpoints"] = bucket
    (project.folder / "template.json").write_text(json.dumps(with_bucket))
    assert project.rollout().code == 0
    project.wants("one")

    stopped = project.rollout("--wave", "canary")

    assert stopped.code == 3
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


def test_a_later_rollout_sorts_later_although_the_clock_was_set_back(tmp_path: Path) -> None:
    first = new_run_folder(tmp_path, datetime(2026, 11, 21, tzinfo=UTC))
    first.mkdir()
    second = new_run_folder(tmp_path, datetime(2020, 1, 1, tzinfo=UTC))
    second.mkdir()
    third = new_run_folder(tmp_path, datetime(2026, 11, 22, tzinfo=UTC))

    assert sorted([third.name, second.name, first.name]) == [first.name, second.name, third.name]


def test_a_digest_takes_what_cloudformation_does_not_keep_for_the_same() -> None:
    assert template_digest({"a": "ä", "b": 1}) == template_digest({"b": 1, "a": "?"})
    assert template_digest({"a": "ä"}) != template_digest({"a": "b"})


# The gate that waits for a job


class Batch:
    def __init__(self, *states: str) -> None:
        self.states = list(states)
        self.names: list[str] = []
        self.submissions = 0

    def get_paginator(self, operation: str) -> "Batch":
        assert operation == "list_jobs"
        return self

    def paginate(self, *, jobQueue: str, filters: list[dict[str, Any]]) -> list[Any]:  # noqa: N803 - as boto3 has it
        assert jobQueue == "queue"
        (wanted,) = filters[0]["values"]
        return [{"jobSummaryList": [{"jobId": name} for name in self.names if name == wanted]}]

    def describe_jobs(self, *, jobs: list[str]) -> dict[str, Any]:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return {"jobs": [{"jobId": jobs[0], "status": state, "statusReason": "a node is slow"}]}

    def submit(self, *_: Any, name: str, **__: Any) -> list[Submitted]:
        self.submissions += 1
        self.names.append(name)
        return [Submitted(job_id=name, arn=None, name=name)]


GATE = Task(cluster="a-us-east-2", step="job:train-fabric", interrupted=False, attempt=1)


def steps(tmp_path: Path, batch: Any, *, patience_minutes: float = 1) -> Steps:
    stack = PlannedStack(name="a-us-east-2-Cluster", region="us-east-2", before=None, after="x")
    cluster = PlannedCluster(
        name="a-us-east-2",
        wave="w",
        region="us-east-2",
        assembly="r/assembly",
        stacks=(stack,),
        steps=(DEPLOY, "job:train-fabric", ALARMS),
    )
    plan = RolloutPlan(file="f", digest="d", target="t", bake_minutes=0, waves=("w",), clusters=(cluster,))
    return Steps(
        plan=plan,
        run_id="run",
        rollouts=tmp_path,
        needs={},
        skip=(),
        targets=one_target(Target(name="local", local=True, environment={}, client=lambda *_: batch)),
        toolchain=Toolchain(cdk=Path("cdk"), version="2", path=""),
        directory=tmp_path,
        state=tmp_path,
        temporary=tmp_path,
        patience_minutes=patience_minutes,
        poll_seconds=0.001,
        stopping=threading.Event(),
        show=lambda *_: None,
    )


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Callable[[Batch], None]:
    class Queue:
        arn = "queue"

    def install(batch: Batch) -> None:
        monkeypatch.setattr(rollout_steps, "find_queue", lambda *_, **__: Queue)
        monkeypatch.setattr(rollout_steps, "find_definition", lambda *_, **__: {})
        monkeypatch.setattr(rollout_steps, "submit_all", batch.submit)

    return install


def test_a_gate_submits_its_job_and_waits_until_it_has_succeeded(
    tmp_path: Path, gate: Callable[[Batch], None]
) -> None:
    batch = Batch("RUNNABLE", "RUNNING", "SUCCEEDED")
    gate(batch)

    assert steps(tmp_path, batch).take(GATE).passed is True
    assert batch.names == ["train-fabric-run-1"]


def test_a_job_that_a_dead_process_has_submitted_is_not_submitted_again(
    tmp_path: Path, gate: Callable[[Batch], None]
) -> None:
    batch = Batch("SUCCEEDED")
    gate(batch)
    batch.names.append("train-fabric-run-1")

    again = steps(tmp_path, batch).take(Task(**{**_values(GATE), "interrupted": True}))
    after_a_failure = steps(tmp_path, batch).take(Task(**{**_values(GATE), "attempt": 2}))

    assert (again.passed, after_a_failure.passed) == (True, True)
    assert batch.names == ["train-fabric-run-1", "train-fabric-run-2"]
    assert batch.submissions == 1


def test_a_job_that_fails_or_does_not_end_does_not_pass(
    tmp_path: Path, gate: Callable[[Batch], None]
) -> None:
    failed, waiting = Batch("RUNNING", "FAILED"), Batch("RUNNABLE")
    gate(failed)
    assert steps(tmp_path, failed).take(GATE) == Result(
        passed=False, note="job train-fabric-run-1 failed: a node is slow"
    )
    gate(waiting)
    late = steps(tmp_path, waiting, patience_minutes=0).take(GATE)

    assert late.passed is False
    assert "still RUNNABLE after 0 minutes" in late.note


def test_giving_up_ends_a_gate_that_waits_and_nobody_knows_its_outcome(
    tmp_path: Path, gate: Callable[[Batch], None]
) -> None:
    batch = Batch("RUNNING")
    gate(batch)
    waiting = steps(tmp_path, batch)
    waiting.stopping.set()

    assert waiting.take(GATE).passed is None


def _values(task: Task) -> dict[str, Any]:
    return {name: getattr(task, name) for name in ("cluster", "step", "interrupted", "attempt")}


def test_what_a_step_cannot_reach_fails_it_and_a_mistake_of_ours_is_raised() -> None:
    def hands(error: Exception) -> ThreadHands:
        def take(_: Task) -> Result:
            raise error

        one = ThreadHands(take, told=lambda *_: None, stopping=threading.Event())
        one.begin(GATE)
        return one

    assert hands(OSError("no route")).wait() == (GATE, Result(passed=False, note="no route"))
    with pytest.raises(ZeroDivisionError):
        hands(ZeroDivisionError()).wait()
