"""The Lambda function of the life cycle; functions/test_function_faults.py runs it with faults."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from tests.unit.runtime.lifecycle.lifecycle_aws import ADDITIONAL_QUEUE, cluster

from ultracluster_runtime.lifecycle import handler as function


def test_the_function_takes_its_cluster_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    given = cluster(additional_job_queues=(ADDITIONAL_QUEUE,), auto_scaling_group="fleet")
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
    managed = Mock()
    monkeypatch.setattr(function, "manage_blocks", managed)
    function.handler({"detail-type": "anything"}, SimpleNamespace(aws_request_id="request"))
    ((block, clients, _),) = (call.args for call in managed.call_args_list)
    assert (block, clients) == (given, function._CLIENTS)
    assert managed.call_args.kwargs == {"owner": "request"}
