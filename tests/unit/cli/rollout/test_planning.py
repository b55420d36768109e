"""The steps of a rollout are planned before the first of them."""

import json

import pytest
from tests.unit.cli.rollout.rollout_simulation import Project, template

from ultracluster_cli.exit_codes import ExitCode

pytestmark = pytest.mark.slow


def test_refuses_stacks_that_are_being_changed(project: Project) -> None:
    assert project.rollout().code == 0
    project.wants("two")
    project.aws.status = "UPDATE_IN_PROGRESS"

    outcome = project.rollout()

    assert outcome.code == 2
    assert outcome.stderr.count("error: ") == 3
    assert len(project.deployed()) == 3


def test_a_stopped_plan_is_shown_and_nothing_is_deployed(project: Project) -> None:
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


@pytest.mark.parametrize(
    ("before", "said"),
    [(None, "did not exist before"), ("by hand", "no stored rollout has the earlier deployment")],
)
def test_a_wave_cannot_roll_back_without_a_stored_deployment(
    project: Project, before: str | None, said: str
) -> None:
    if before:
        (project.folder / "aws" / "canary-us-east-1-Cluster").write_text(json.dumps(template(before)))
    assert project.rollout().code == 0

    refused, unknown = project.rollout("--rollback", "canary"), project.rollout("--rollback", "nothing")

    assert (refused.code, unknown.code) == (2, 2)
    assert said in refused.stderr
    assert "no rollout in this folder has deployed wave 'nothing'" in unknown.stderr
