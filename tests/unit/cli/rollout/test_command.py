"""`ultracluster rollout`, resumed, restarted and rolled back too, with fakes of the CDK CLI and AWS (the real CLI: tests/integration)."""

import json
from typing import Any

import pytest
from filelock import FileLock
from tests.unit.cli._aws.folder_bucket import FolderBucket
from tests.unit.cli.rollout.rollout_simulation import CLUSTERS, Project, target, template

from ultracluster_catalog.places.zones import ZONE_ID_PREFIXES
from ultracluster_cli._aws import targets
from ultracluster_cli._aws.target import Target
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.rollout import command as rollout_run
from ultracluster_cli.rollout import step_runner as rollout_steps
from ultracluster_runtime.preflight.check import failed, passed, warned
from ultracluster_runtime.preflight.run import CheckResult as Checked
from ultracluster_runtime.rollout.drive import drive

pytestmark = pytest.mark.slow


def test_a_deployment_that_fails_stops_before_the_next_wave_and_resumes(project: Project) -> None:
    project.fails("canary-us-east-1")
    first = project.rollout()
    project.fails()
    again = project.rollout("--resume")

    assert first.code == ExitCode.FAILED
    assert (
        "error: canary-us-east-1: deploy: cdk deploy ended with code 1: Error: no such luck" in first.stderr
    )
    assert again.code == 0, again.stderr
    assert project.deployed().count("canary-us-east-1") == 2
    assert sorted(set(project.deployed())) == sorted(CLUSTERS)


def test_draws_the_waves_with_their_states(project: Project) -> None:
    project.fails("canary-us-east-1")
    project.rollout("--picture", "waves.svg")

    drawn = (project.folder / "waves.svg").read_text("utf-8")
    assert "deploy: failed" in drawn
    assert "gate: stacks healthy: waiting" in drawn


def test_a_failed_preflight_stops_before_the_deployment(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        Checked(code="UC9420", key=("us-east-1",), outcome=outcome)
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
    assert "error: canary-us-east-1: alarms: alarm canary-us-east-1-Cluster: too hot" in outcome.stderr
    assert outcome.stderr.endswith(
        "Not started: production.\n"
        "To continue once the error is fixed: ultracluster rollout rollout.yaml --resume\n"
        "To plan again with the current file: ultracluster rollout rollout.yaml --restart\n"
        "To take wave canary back: ultracluster rollout rollout.yaml --rollback canary\n"
    )
    assert project.deployed() == ["canary-us-east-1"]


@pytest.mark.parametrize("number", [1, 3])
def test_as_many_clusters_are_deployed_in_parallel_as_the_option_says(
    project: Project, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    asked: list[int] = []

    def recorded(*arguments: Any, at_once: int, now: Any) -> Any:
        asked.append(at_once)
        return drive(*arguments, at_once=at_once, now=now)

    monkeypatch.setattr(rollout_run, "drive", recorded)
    outcome = project.rollout("--at-once", str(number))

    assert outcome.code == 0, outcome.stderr
    assert asked == [number]


def test_reminder_alarms_do_not_stop_a_rollout(project: Project) -> None:
    for name in ("Unused", "DrainComing", "composite"):
        project.aws.alarms[f"canary-us-east-1-Cluster-{name}"] = "ALARM"

    outcome = project.rollout()

    assert outcome.code == 0, outcome.stderr
    assert "none of 3 alarms fired" in outcome.stderr


@pytest.mark.parametrize("name", ["own", "own-composite"])
def test_a_user_defined_alarm_stops_a_rollout_regardless_of_its_name(project: Project, name: str) -> None:
    project.aws.alarms[f"canary-us-east-1-Cluster-{name}"] = "ALARM"

    outcome = project.rollout()

    assert outcome.code == ExitCode.FAILED
    assert f"alarms: alarm canary-us-east-1-Cluster-{name}: too hot" in outcome.stderr


@pytest.mark.parametrize(
    ("written", "process"), [(b"4711", "4711"), (b"\xff\x1b[31m", "unknown"), (b"", "unknown")]
)
def test_refuses_two_at_once(project: Project, written: bytes, process: str) -> None:
    rollouts = project.folder / ".ultracluster" / "rollouts"
    rollouts.mkdir(parents=True)
    (rollouts / "lock.pid").write_bytes(written)
    with FileLock(rollouts / "lock"):
        refused = project.rollout()
    # A process that has died holds no lock, whatever its file says.
    taken = project.rollout()

    assert (refused.code, taken.code) == (2, 0)
    assert f"error: another rollout is running here (process {process})" in refused.stderr


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


@pytest.mark.deep
def test_thirty_regions_of_three_accounts_are_rolled_out_from_one_file(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each cluster is deployed once, with the profile of its account and under a lock in its own bucket."""
    accounts = {"alpha": "1" * 12, "beta": "2" * 12, "gamma": "3" * 12}
    zones = sorted((region, f"{prefix}-az1") for prefix, region in ZONE_ID_PREFIXES.items())[:30]
    lines = ["version: 1", "defaults: {instance_type: trn1.32xlarge, nodes: 1}", "waves:"]
    for wave in accounts:
        lines += [f"  - name: {wave}", "    clusters:"]
        for number, (region, zone) in enumerate(zones):
            image = f"ami-{number:016x}{len(wave)}"
            lines.append(
                f"      - {{name: {wave}, profile: {wave}, region: {region}, zone_id: {zone}, image_id: {image}, "
                "capacity: {market_type: on-demand}}"
            )
    (project.folder / "rollout.yaml").write_text("\n".join(lines) + "\n")
    names = tuple(f"{wave}-{region}" for wave in accounts for region, _ in zones)
    cdk = (project.folder / "node_modules" / ".bin" / "cdk").resolve()
    cdk.write_text(cdk.read_text().replace(repr(CLUSTERS), repr(names)))
    buckets: set[str] = set()

    def account(profile: str | None = None) -> Target:
        assert profile is not None
        return target(project.aws, account=accounts[profile], profile=profile)

    def put_object(self: FolderBucket, **values: Any) -> Any:
        buckets.add(values["Bucket"])
        return put(self, **values)

    put = FolderBucket.put_object
    monkeypatch.setattr(targets, "account", account)
    monkeypatch.setattr(FolderBucket, "put_object", put_object)
    outcome = project.rollout("--at-once", "20")

    assert outcome.code == 0, outcome.stderr
    assert sorted(project.deployed()) == sorted(f"{name}@{name.partition('-')[0]}" for name in names)
    assert buckets == {
        f"cdk-hnb659fds-assets-{account}-{region}" for account in accounts.values() for region, _ in zones
    }


def test_an_unfinished_rollout_must_be_resumed_or_restarted(project: Project) -> None:
    project.fails("canary-us-east-1")
    project.rollout()
    project.fails()

    refused, restarted = project.rollout(), project.rollout("--restart")
    nothing_left = project.rollout("--resume")

    assert (refused.code, restarted.code, nothing_left.code) == (2, 0, 2)
    assert "Continue with --resume" in refused.stderr
    assert "error: " in nothing_left.stderr
    assert "the last rollout has finished" in nothing_left.stderr


def test_resuming_needs_a_rollout(project: Project) -> None:
    outcome = project.rollout("--resume")

    assert outcome.code == 2
    assert "nothing to resume: " in outcome.stderr
    assert "no rollout was started" in outcome.stderr


def test_resuming_rejects_a_changed_file(project: Project) -> None:
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
    assert "the file has changed since the rollout" in changed.stderr


def test_resuming_refuses_another_account(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.fails("canary-us-east-1")
    project.rollout()
    project.fails()

    monkeypatch.setenv("FAKE_ACCOUNT", "210987654321")
    elsewhere = project.rollout("--resume")
    monkeypatch.delenv("FAKE_ACCOUNT")
    there = project.rollout("--resume")

    assert (elsewhere.code, there.code) == (2, 0)
    assert "Use credentials of that account" in elsewhere.stderr


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

    assert (stopped.code, resumed.code) == (4, 0)
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
    assert "is no longer in the rollout file" in gone.stderr
    assert project.there("pretrain-us-east-2") == "one"


def test_a_wave_rolls_back_to_an_earlier_deployment(project: Project) -> None:
    assert project.rollout().code == 0
    project.wants("two")
    project.aws.alarms["canary-us-east-1-Cluster"] = "ALARM"
    assert project.rollout().code == 4

    outcome = project.rollout("--rollback", "canary")

    assert outcome.code == 0, outcome.stderr
    assert [project.there(name) for name in CLUSTERS] == ["one", "one", "one"]
    assert project.deployed().count("canary-us-east-1") == 3
    assert (
        "nothing to resume: " in project.rollout("--resume").stderr
    )  # the rollout that was taken back is over


def test_a_wave_rolls_back_to_the_deployed_state_and_not_to_the_latest_rollout(project: Project) -> None:
    for text in ("one", "two"):
        project.wants(text)
        assert project.rollout("--wave", "canary").code == 0
    (project.folder / "aws" / "canary-us-east-1-Cluster").write_text(json.dumps(template("one")))
    project.wants("three")
    assert project.rollout("--wave", "canary").code == 0

    outcome = project.rollout("--rollback", "canary")

    assert outcome.code == 0, outcome.stderr
    assert project.there("canary-us-east-1") == "one"
