"""The Lambda function of the life cycle."""

from types import SimpleNamespace

import pytest
from tests.unit.runtime.lifecycle.lifecycle_aws import (
    ADDITIONAL_QUEUE,
    ENVIRONMENT,
    RESERVATION,
    FakeAws,
    cluster,
)

from ultracluster_runtime.lifecycle import handler as function
from ultracluster_runtime.lifecycle.reader import ManagedBlock

pytestmark = pytest.mark.slow  # boto3 needs a second for its clients


@pytest.fixture
def aws() -> FakeAws:
    return FakeAws()


def test_the_function_takes_its_cluster_from_the_environment(
    aws: FakeAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws.reservations[RESERVATION]["State"] = "scheduled"
    given = cluster()
    for name, value in {
        "UC_RESERVATION_ID": given.reservation_id,
        "UC_COMPUTE_ENVIRONMENT": given.compute_environment,
        "UC_JOB_QUEUE": given.job_queue,
        "UC_TOPIC": given.topic,
        "UC_STATE_TABLE": given.state_table,
        "UC_MAX_REFUSALS": "3",
        "UC_CHECKPOINT_LEAD_SECONDS": "1200",
        "UC_ADDITIONAL_JOB_QUEUES": ADDITIONAL_QUEUE,
        "UC_AUTO_SCALING_GROUP": "fleet",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(function, "_CLIENTS", aws.clients)
    asked: list[ManagedBlock] = []
    looked = function.manage_blocks
    monkeypatch.setattr(
        function,
        "manage_blocks",
        lambda *arguments, owner: (asked.append(arguments[0]), looked(*arguments, owner=owner)),
    )
    function.handler({"detail-type": "anything"}, SimpleNamespace(aws_request_id="request"))
    assert aws.environments[ENVIRONMENT]["state"] == "DISABLED"
    assert asked == [cluster(additional_job_queues=(ADDITIONAL_QUEUE,), auto_scaling_group="fleet")]
