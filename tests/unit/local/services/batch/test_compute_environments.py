"""Compute environments and the queues that use them."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.local.services.batch.training_queue import training_queue

from ultracluster_local import LocalAws

pytestmark = pytest.mark.deploy


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return training_queue(local_aws)


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_environment_that_a_queue_uses_cannot_go(batch: Any) -> None:
    batch.update_compute_environment(computeEnvironment="nodes", state="DISABLED")
    with pytest.raises(ClientError, match="existing JobQueue relationship") as caught:
        batch.delete_compute_environment(computeEnvironment="nodes")
    assert code(caught) == "ClientException"
    batch.update_job_queue(jobQueue="training", state="DISABLED")
    batch.delete_job_queue(jobQueue="training")
    batch.delete_compute_environment(computeEnvironment="nodes")
    assert batch.describe_compute_environments()["computeEnvironments"] == []
