from typing import Any
from unittest.mock import Mock

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import (
    ZONE,
    network,
    of_type,
)
from tests.unit.ultracluster.operations.watched_clusters import IDS

from ultracluster import (
    Alarms,
    ClusterAlarms,
    NodeMetrics,
    SharedFileSystem,
)
from ultracluster_catalog.observability.alarms import REMINDING_ALARMS
from ultracluster_cli.rollout.stack_status import alarms_of

pytestmark = pytest.mark.slow


def alarm(stack: cdk.Stack, construct_id: str, *, of: str = "ClusterAlarms") -> dict[str, Any]:
    template = cdk.assertions.Template.from_stack(stack)
    (found,) = [
        each["Properties"]
        for name, each in template.find_resources("AWS::CloudWatch::Alarm").items()
        if name[:-8] == f"{of}{construct_id}"
    ]
    return dict(found)


def test_every_alarm_describes_its_meaning_and_notifies_the_topic_of_both_states(
    watched: cdk.Stack,
) -> None:
    template = cdk.assertions.Template.from_stack(watched)
    (topic,) = (
        each for each in template.find_resources("AWS::SNS::Topic") if each.startswith("ClusterAlarms")
    )
    for construct_id in IDS:
        shown = alarm(watched, construct_id)
        assert shown["AlarmDescription"].startswith("Cluster pretrain: ")
        assert len(shown["AlarmDescription"]) <= 1024  # AWS::CloudWatch::Alarm, its schema in cfn-lint
        assert shown["AlarmActions"] == shown["OKActions"] == [{"Ref": topic}]


def test_a_rollout_looks_at_every_alarm_but_the_reminders(watched: cdk.Stack) -> None:
    resources = cdk.assertions.Template.from_stack(watched).to_json()["Resources"]
    listed = [
        {"ResourceType": each["Type"], "LogicalResourceId": name, "PhysicalResourceId": name}
        for name, each in resources.items()
    ]
    cloudformation = Mock()
    cloudformation.get_paginator.return_value.paginate.return_value = [{"StackResourceSummaries": listed}]
    looked_at = {name[:-8] for name in alarms_of(Mock(stacks=[Mock()]), client=lambda *_: cloudformation)}
    assert looked_at == {f"ClusterAlarms{each}" for each in IDS - REMINDING_ALARMS} | {
        "ClusterBlockLifecycleAlarm"
    }
    assert REMINDING_ALARMS < IDS


def test_alarms_work_with_an_imported_topic_and_file_system(stack: cdk.Stack) -> None:
    there = network(stack)
    theirs = SharedFileSystem.from_attributes(
        stack,
        "FileSystem",
        network=there,
        file_system_id="fs-0123456789abcdef0",
        mount_name="abcdefgh",
        zone_id=ZONE,
    )
    topic = sns.Topic.from_topic_arn(stack, "Own", "arn:aws:sns:us-east-2:123456789012:own")
    metrics = NodeMetrics(stack, "Metrics", cluster_name="pretrain")
    ours = SharedFileSystem(stack, "New", network=there)
    told = ClusterAlarms(stack, "Alarms", metrics=metrics, file_system=ours, topic=topic)
    # How large an existing one is, is not known.
    unsized = ClusterAlarms(stack, "Unsized", metrics=metrics, file_system=theirs, topic=topic)
    bare = ClusterAlarms(
        stack,
        "Bare",
        metrics=metrics,
        settings=Alarms(idle_percent=7, emails=("jane@example.com",)),
    )

    full = alarm(stack, "FileSystemFull", of="Alarms")
    (watched,) = full["Metrics"]
    assert stack.resolve(ours.file_system_id) in watched["Expression"]["Fn::Join"][1]
    assert full["AlarmActions"] == [topic.topic_arn]
    assert (set(told.alarms), set(unsized.alarms), set(bare.alarms)) == (
        IDS,
        IDS - {"FileSystemFull"},
        IDS - {"FileSystemFull"},
    )
    assert [each["Properties"]["Endpoint"] for each in of_type(stack, "AWS::SNS::Subscription")] == [
        "jane@example.com"
    ]
    assert [alarm(stack, "Idle", of=name)["Threshold"] for name in ("Alarms", "Bare")] == [
        Alarms().idle_percent,
        7,
    ]
