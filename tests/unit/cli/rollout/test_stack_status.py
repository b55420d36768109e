"""A stack is described by its status and the digest of its template."""

import json
from unittest.mock import MagicMock

import pytest
from tests.unit.cli.rollout.rollout_simulation import CLUSTERS, Project, template

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.rollout.stack_status import firing_alarms, template_digest

pytestmark = pytest.mark.slow


def test_a_stack_in_a_bad_state_does_not_pass(project: Project) -> None:
    project.aws.status = "UPDATE_ROLLBACK_COMPLETE"

    outcome = project.rollout()

    assert outcome.code == ExitCode.FAILED
    assert "stacks: canary-us-east-1-Cluster is UPDATE_ROLLBACK_COMPLETE" in outcome.stderr


def test_a_stack_that_changed_since_the_plan_is_not_overwritten(project: Project) -> None:
    project.aws.alarms["canary-us-east-1-Cluster"] = "ALARM"
    project.rollout()
    (project.folder / "aws" / "pretrain-us-east-2-Cluster").write_text(json.dumps(template("by hand")))
    project.aws.alarms.clear()

    outcome = project.rollout("--resume")

    assert outcome.code == ExitCode.FAILED
    assert "pretrain-us-east-2-Cluster has changed since this rollout was planned" in outcome.stderr
    assert "pretrain-us-east-2" not in project.deployed()


def test_a_change_set_that_was_never_executed_is_not_a_change_in_progress(project: Project) -> None:
    for name in CLUSTERS:
        (project.folder / "aws" / f"{name}-Cluster").write_text(json.dumps(template("never executed")))
    project.aws.status = "REVIEW_IN_PROGRESS"

    outcome = project.rollout()

    assert "Wait for that deployment" not in outcome.stderr
    assert project.deployed() == ["canary-us-east-1"]


def test_a_digest_ignores_characters_that_cloudformation_does_not_preserve() -> None:
    assert template_digest({"a": "ä", "b": 1}) == template_digest({"b": 1, "a": "?"})
    assert template_digest({"a": "ä"}) != template_digest({"a": "b"})


def test_metric_and_composite_alarms_fire_also_behind_the_first_hundred() -> None:
    names = [f"a{number}" for number in range(101)]
    alarms = [{"AlarmName": name, "StateValue": "ALARM" if name != "a1" else "OK"} for name in names]
    cloudwatch = MagicMock()
    cloudwatch.describe_alarms.side_effect = (
        lambda AlarmNames, **_: {  # noqa: N803 - as boto3 has it
            "MetricAlarms": [alarm for alarm in alarms[:50] if alarm["AlarmName"] in AlarmNames],
            "CompositeAlarms": [alarm for alarm in alarms[50:] if alarm["AlarmName"] in AlarmNames],
        }
    )

    assert [alarm["AlarmName"] for alarm in firing_alarms(names, cloudwatch)] == [names[0], *names[2:]]
    for call in cloudwatch.describe_alarms.call_args_list:
        assert call.kwargs["AlarmTypes"] == ["MetricAlarm", "CompositeAlarm"]
        assert len(call.kwargs["AlarmNames"]) <= 100  # DescribeAlarms takes no more names
