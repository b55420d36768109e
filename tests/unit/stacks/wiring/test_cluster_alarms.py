"""Alarms of a rollout go to its topic or its addresses, with its thresholds."""

from collections.abc import Callable

import pytest
from tests.unit.ultracluster import builders

from ultracluster import AlarmSettings
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.wiring.cluster_alarms import alarm_settings

pytestmark = pytest.mark.synth

TOPIC = "arn:aws:sns:us-east-2:123456789012:alarms"


def test_a_capacity_block_has_alarms_by_default(configured: Callable[..., ClusterConfig]) -> None:
    assert alarm_settings(builders.new_stack(), configured()) == AlarmSettings()


def test_addresses_and_thresholds_are_those_of_the_rollout(configured: Callable[..., ClusterConfig]) -> None:
    settings = alarm_settings(
        builders.new_stack(), configured("alarms: {emails: [a@example.com], idle_minutes: 20}")
    )

    assert settings is not None
    assert (settings.topic, list(settings.emails), settings.thresholds.idle_minutes) == (
        None,
        ["a@example.com"],
        20,
    )


def test_an_existing_topic_is_imported(configured: Callable[..., ClusterConfig]) -> None:
    stack = builders.new_stack()
    settings = alarm_settings(stack, configured(f'alarms: {{topic_arn: "{TOPIC}"}}'))

    assert settings is not None
    assert settings.topic is not None
    assert settings.topic.topic_arn == TOPIC
    assert builders.of_type(stack, "AWS::SNS::Topic") == []
