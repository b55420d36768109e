"""`ultracluster rollout` is resumed, restarted and rolled back, with fakes of the CDK CLI and AWS."""

import json

import pytest
from tests.unit.cli.rollout.rollout_simulation import CLUSTERS, Project, template

pytestmark = pytest.mark.slow


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
