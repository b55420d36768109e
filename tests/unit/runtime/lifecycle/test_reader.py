"""Reading the observations of a block, on real boto3 clients."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError
from tests.unit.runtime.lifecycle.lifecycle_aws import (
    ENVIRONMENT,
    NODES,
    RESERVATION,
    START,
    FakeAws,
    cluster,
)

from ultracluster_runtime.lifecycle import reader
from ultracluster_runtime.lifecycle.observations import (
    BOOT_TIME,
    Environment,
    Fleet,
    Job,
    Observations,
    Queue,
    Refusal,
)
from ultracluster_runtime.lifecycle.reader import chunks, observe, resumes_left, template_data, try_read

pytestmark = pytest.mark.slow  # boto3 needs a second for its clients

NOW = START + timedelta(hours=1)


@pytest.fixture
def aws() -> FakeAws:
    return FakeAws()


def observed(aws: FakeAws, *, errors: int = 0) -> Observations:
    failures: list[Exception] = []
    observations = observe(cluster(), aws.clients, NOW, failures)
    assert len(failures) == errors, failures
    return observations


def test_reads_the_block_its_queue_and_the_jobs_on_its_nodes(aws: FakeAws) -> None:
    observations = observed(aws)

    assert observations.reservation is not None
    assert observations.reservation.state == "active"
    assert observations.environment == Environment(enabled=True)
    assert observations.queue == Queue(enabled=True, others_serve=False)
    assert observations.nodes == frozenset(NODES)
    assert observations.extension_pending is False
    jobs = {job.job_id: job for job in observations.jobs or ()}
    assert jobs["multi"] == Job(job_id="multi", nodes=frozenset(NODES))
    assert "waits" not in jobs


def test_only_multi_node_jobs_are_asked_for_the_jobs_of_their_nodes(
    aws: FakeAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    described = reader.describe_jobs

    def recorded(batch: Any, jobs: Sequence[str]) -> list[dict[str, Any]]:
        asked.extend(jobs)
        return described(batch, jobs)

    monkeypatch.setattr(reader, "describe_jobs", recorded)
    observed(aws)

    parts = {job for job in asked if "#" in job}
    assert parts == {f"multi#{index}" for index in range(len(NODES))}


def test_a_node_on_which_its_part_of_a_job_has_ended_is_free(aws: FakeAws) -> None:
    aws.jobs["multi#1"] = "FAILED"
    jobs = {job.job_id: job.nodes for job in observed(aws).jobs or ()}

    assert jobs["multi"] == frozenset(NODES[:1])


def test_a_job_that_waits_is_read_only_where_no_node_runs(aws: FakeAws) -> None:
    assert observed(aws).waiting is None
    aws.instances.clear()
    assert observed(aws).waiting == "waits"


def test_only_an_active_block_is_asked_for_nodes_and_extensions(aws: FakeAws) -> None:
    aws.reservations[RESERVATION]["State"] = "scheduled"
    observations = observed(aws)

    assert (observations.nodes, observations.jobs, observations.extension_pending) == (None, None, None)
    assert not {"DescribeInstances", "DescribeCapacityBlockExtensionHistory", "ListJobs"} & set(aws.calls)


def test_reservation_that_ec2_does_not_know_is_none(aws: FakeAws) -> None:
    del aws.reservations[RESERVATION]

    assert observed(aws).reservation is None


def test_refused_reads_are_none_and_recorded(aws: FakeAws) -> None:
    aws.failing = dict.fromkeys({"DescribeInstances", "DescribeJobQueues"}, "denied")
    observations = observed(aws, errors=3)

    assert (observations.nodes, observations.queue, observations.refusals) == (None, None, None)
    assert observations.environment is not None


def test_nothing_is_observed_without_the_reservation(aws: FakeAws) -> None:
    aws.failing = dict.fromkeys({"DescribeCapacityReservations"}, "denied")
    with pytest.raises(ClientError):
        observe(cluster(), aws.clients, NOW, [])
    assert aws.calls == ["DescribeCapacityReservations"]


def test_disabled_environment_is_reported(aws: FakeAws) -> None:
    aws.environments[ENVIRONMENT]["state"] = "DISABLED"

    assert observed(aws).environment == Environment(enabled=False)


def test_environment_that_is_modified_or_invalid_is_reported_with_its_reason(aws: FakeAws) -> None:
    aws.environments[ENVIRONMENT] |= {"status": "INVALID", "statusReason": "CLIENT_ERROR - no role"}

    assert observed(aws).environment == Environment(
        enabled=True, status="INVALID", reason="CLIENT_ERROR - no role"
    )


def test_nodes_that_shut_themselves_down_are_refusals_with_the_reason_of_their_console(aws: FakeAws) -> None:
    boot = "[  9.8] cloud-init[1]: ultracluster: refused to join the cluster: 15 of 16 Neuron devices\r\n[ 9.9] bye"
    aws.shut_down = {"i-1": boot, "i-2": "", "i-3": "a kernel panic"}

    assert observed(aws).refusals == (
        Refusal(node="i-1", launched=START, reason="15 of 16 Neuron devices"),
        Refusal(node="i-2", launched=START),
        Refusal(node="i-3", launched=START),
    )


def test_refusal_is_reported_although_its_console_cannot_be_read(aws: FakeAws) -> None:
    aws.shut_down = {"i-1": "anything"}
    aws.failing = dict.fromkeys({"GetConsoleOutput"}, "denied")

    assert observed(aws).refusals == (Refusal(node="i-1", launched=START),)


@pytest.mark.parametrize(("length", "sizes"), [(0, []), (2, [2]), (3, [2, 1])])
def test_chunks_hold_at_most_the_size(length: int, sizes: list[int]) -> None:
    values = [str(number) for number in range(length)]
    parts = list(chunks(values, 2))

    assert [len(part) for part in parts] == sizes
    assert [value for part in parts for value in part] == values


def test_only_read_errors_are_recorded() -> None:
    errors: list[Exception] = []
    response: dict[str, str] = {}

    assert try_read(lambda: response["member"], errors) is None
    assert [type(error) for error in errors] == [KeyError]
    with pytest.raises(NotImplementedError):
        try_read(_not_implemented, errors)


def _not_implemented() -> None:
    raise NotImplementedError


def array(aws: FakeAws, *, node_array: bool) -> None:
    """Two started children of an array of three, on the nodes of the block."""
    aws.arrays["array"] = 3
    aws.node_arrays |= {"array"} if node_array else set()
    aws.jobs |= {"array": "PENDING", "array:0": "RUNNING", "array:1": "STARTING", "array:2": "RUNNABLE"}
    aws.hosts |= {"array:0": NODES[0], "array:1": NODES[1]}


def test_children_of_an_array_are_jobs_of_their_own(aws: FakeAws) -> None:
    array(aws, node_array=False)
    jobs = {job.job_id: job for job in observed(aws).jobs or ()}

    assert jobs["array:0"] == Job(job_id="array:0", nodes=frozenset({NODES[0]}))
    assert jobs["array:1"] == Job(job_id="array:1", nodes=frozenset({NODES[1]}))
    assert not {"array", "array:2"} & jobs.keys()


def test_children_that_are_the_nodes_of_one_job_are_one_job_with_those_that_wait(aws: FakeAws) -> None:
    array(aws, node_array=True)
    jobs = {job.job_id: job for job in observed(aws).jobs or ()}

    children = ("array:0", "array:1", "array:2")
    assert jobs["array"] == Job(job_id="array", nodes=frozenset(NODES), children=children)
    assert not set(children) & jobs.keys()


def test_reads_the_auto_scaling_group_without_nodes_that_are_not_in_service(aws: FakeAws) -> None:
    aws.protected[NODES[1]] = False
    failures: list[Exception] = []
    observations = observe(cluster(auto_scaling_group="fleet"), aws.clients, NOW, failures)

    assert failures == []
    assert observations.has_fleet
    assert observations.fleet == Fleet(
        desired=2, most=2, protected=frozenset({NODES[0]}), exposed=frozenset({NODES[1]})
    )


def test_former_block_leaves_the_auto_scaling_group_to_the_present_one(aws: FakeAws) -> None:
    observations = observe(cluster(auto_scaling_group="fleet", former=True), aws.clients, NOW, [])

    assert observations.fleet is None
    assert "DescribeAutoScalingGroups" not in aws.calls


@pytest.mark.parametrize(
    ("template", "asked"),
    [
        ({"launchTemplateId": "lt-1", "version": "7"}, {"LaunchTemplateId": "lt-1", "Versions": ["7"]}),
        ({"launchTemplateName": "nodes"}, {"LaunchTemplateName": "nodes", "Versions": ["$Default"]}),
    ],
)
def test_a_launch_template_is_read_by_its_id_or_its_name(
    template: dict[str, str], asked: dict[str, object]
) -> None:
    ec2 = Mock()
    ec2.describe_launch_template_versions.return_value = {
        "LaunchTemplateVersions": [{"LaunchTemplateData": {}}]
    }
    assert template_data(ec2, template) == {}
    ec2.describe_launch_template_versions.assert_called_once_with(**asked)


@pytest.mark.parametrize(
    ("job", "definition", "left"),
    [
        ({}, {}, 0),
        ({}, {"ultracluster:resume": "2"}, 2),
        ({"ultracluster:resume": "1"}, {"ultracluster:resume": "2"}, 1),
        ({"ultracluster:resume": "0"}, {"ultracluster:resume": "2"}, 0),
        ({"ultracluster:resume": "-1"}, {}, 0),
        ({"ultracluster:resume": "many"}, {}, 0),
    ],
)
def test_resumes_come_from_the_job_or_else_from_its_definition(
    job: dict[str, str], definition: dict[str, str], left: int
) -> None:
    assert resumes_left({"tags": job}, {"tags": definition}) == left


@pytest.mark.parametrize(("age", "found"), [(BOOT_TIME - timedelta(seconds=1), set()), (BOOT_TIME, {"i-1"})])
def test_what_a_node_reports_while_it_boots_does_not_make_it_sick(age: timedelta, found: set[str]) -> None:
    message = '{"InstanceId": "%s", "Faults": ["DMA_ERROR"]}'
    events = [{"message": message % node} for node in ("i-1", "i-of-another-block")]
    logs = Mock()
    logs.get_paginator.return_value.paginate.return_value = [{"events": events}]
    block = cluster(metrics_log_group="nodes")

    assert reader._sick(lambda _: logs, block, NOW, {"i-1": NOW - age}).keys() == found
    assert reader._sick(lambda _: logs, cluster(), NOW, {"i-1": NOW - age}) == {}
