"""A cluster with alarms."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import new_stack
from tests.unit.ultracluster.operations.watched_clusters import IDS, cluster


@pytest.fixture(scope="module")
def watched() -> cdk.Stack:
    stack = new_stack()
    made = cluster(
        stack,
        emails=("a@example.com", "b@example.com"),
        idle_percent=20,
        idle_minutes=30,
        free_percent=50,
        collective_percent=40,
    )
    made.add_queue("urgent")
    assert made.alarms
    assert set(made.alarms.alarms) == IDS
    return stack
