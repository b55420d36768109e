"""Logs of nodes."""

from types import SimpleNamespace

import pytest
from tests.unit.runtime.jobs.stubbed_aws import (
    STREAM,
    events,
    expect_job,
    node_array,
    part,
    shown,
)
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_runtime.jobs.logs import Line, Stream, find_stream, read_new, read_tail, stream_of
from ultracluster_spec.findings import FindingsError


@pytest.mark.parametrize(("node", "index"), [(None, 0), (1, 1)])
def test_log_of_a_node_is_that_of_its_child_job(aws: StubbedAws, node: int | None, index: int) -> None:
    container = {
        "logStreamName": STREAM.name,
        "logConfiguration": {"logDriver": "awslogs", "options": {"awslogs-group": "jobs"}},
    }
    expect_job(aws, "RUNNING")
    aws.answer("batch", "describe_jobs", {"jobs": [part(index, **container)]}, {"jobs": [f"one#{index}"]})

    assert find_stream("one", node=node, client=aws.client) == STREAM


def test_log_of_a_child_of_an_array_is_found_by_its_index(aws: StubbedAws) -> None:
    aws.answer("batch", "describe_jobs", {"jobs": [node_array({"RUNNING": 2})]})
    child = node_array({}) | {"jobId": "one:1", "container": {"logStreamName": STREAM.name}}
    aws.answer("batch", "describe_jobs", {"jobs": [child]}, {"jobs": ["one:1"]})

    assert find_stream("one", node=1, client=aws.client).name == STREAM.name


def test_unknown_node_index_is_refused(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNING")
    with pytest.raises(FindingsError, match=r"UC6208: the job has no node 2\. Allowed: 0 to 1"):
        find_stream("one", node=2, client=aws.client)


def test_a_node_that_has_not_started_has_no_log(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNABLE")
    aws.answer("batch", "describe_jobs", {"jobs": []})
    with pytest.raises(FindingsError, match="UC6208: the job is RUNNABLE"):
        find_stream("one", node=None, client=aws.client)


def test_a_job_that_failed_before_its_log_says_why(aws: StubbedAws) -> None:
    expect_job(aws, "FAILED")
    said = part(0) | {"attempts": [{"container": {"reason": "CannotPullContainerError: no such host"}}]}
    aws.answer("batch", "describe_jobs", {"jobs": [said]})
    with pytest.raises(FindingsError, match="CannotPullContainerError: no such host") as refused:
        find_stream("one", node=None, client=aws.client)
    assert "To see why it ended: ultracluster jobs why one" in str(refused.value)


def test_a_failed_job_without_a_line_is_not_to_be_tried_again(aws: StubbedAws) -> None:
    expect_job(aws, "FAILED")
    aws.answer("batch", "describe_jobs", {"jobs": [part(0, logStreamName=STREAM.name)]})
    aws.refuse("logs", "get_log_events", "ResourceNotFoundException")
    stream = find_stream("one", node=None, client=aws.client)
    with pytest.raises(FindingsError, match="To see why it ended") as refused:
        read_tail(stream, count=2, client=aws.client)
    assert "Try again" not in str(refused.value)


def test_reads_the_newest_lines_and_then_each_new_line_once(aws: StubbedAws) -> None:
    where = {"logGroupName": STREAM.group, "logStreamName": STREAM.name}
    aws.answer(
        "logs", "get_log_events", events("a", "b", token="t1"), {**where, "limit": 2, "startFromHead": False}
    )
    for asked, answer in [
        ("t1", events("c", token="t2")),
        ("t2", events("d", token="t3")),
        ("t3", events(token="t3")),
    ]:
        aws.answer("logs", "get_log_events", answer, {**where, "startFromHead": True, "nextToken": asked})

    lines, token = read_tail(STREAM, count=2, client=aws.client)
    pages = list(read_new(STREAM, token=token, client=aws.client))

    assert [line.message for line in lines] == ["a", "b"]
    assert [[line.message for line in page] for page, _ in pages] == [["c"], ["d"], []]
    assert pages[0][0] == [Line(timestamp=1, message="c")]
    assert pages[-1][1] == "t3"


def test_missing_stream_is_a_finding(aws: StubbedAws) -> None:
    aws.refuse("logs", "get_log_events", "ResourceNotFoundException")
    with pytest.raises(FindingsError, match=r"UC6208: jobs has no stream .* Try again after the node"):
        read_tail(STREAM, count=2, client=aws.client)


def several(*containers: dict[str, object]) -> dict[str, object]:
    """A job of several containers on one node, as Step Functions and newer tools submit it."""
    described = shown(status="RUNNING") | {"ecsProperties": {"taskProperties": [{"containers": containers}]}}
    del described["nodeProperties"]
    return described


def test_the_log_of_several_containers_is_that_of_the_one_that_failed_else_of_the_essential_one() -> None:
    sidecar = {"name": "sidecar", "essential": False, "logStreamName": "sidecar/1"}
    trainer = {"name": "trainer", "logStreamName": "trainer/1"}
    assert stream_of(several(sidecar, trainer)) == Stream(group="/aws/batch/job", name="trainer/1")
    failed = stream_of(several(sidecar | {"exitCode": 1}, trainer))
    assert failed is not None
    assert failed.name == "sidecar/1"


def test_a_log_is_read_in_the_region_to_which_the_job_sends_it() -> None:
    asked: list[object] = []
    options = {"awslogs-group": "elsewhere", "awslogs-region": "us-west-2"}
    stream = stream_of(
        {
            "container": {
                "logStreamName": "a/1",
                "logConfiguration": {"logDriver": "awslogs", "options": options},
            }
        }
    )
    assert stream is not None

    def client(*where: object) -> object:
        asked.append(where)
        return SimpleNamespace(get_log_events=lambda **_: {"events": []})

    read_tail(stream, count=1, client=client)  # type: ignore[arg-type]
    assert asked == [("logs", "us-west-2")]


def test_a_log_of_another_driver_is_not_looked_for_in_cloudwatch(aws: StubbedAws) -> None:
    container = {"logStreamName": STREAM.name, "logConfiguration": {"logDriver": "splunk"}}
    expect_job(aws, "RUNNING")
    aws.answer("batch", "describe_jobs", {"jobs": [part(0, **container)]})
    with pytest.raises(FindingsError, match="UC6208: the log of the job goes to splunk"):
        find_stream("one", node=None, client=aws.client)


def test_the_log_of_an_array_is_that_of_the_child_that_failed(aws: StubbedAws) -> None:
    array = node_array({"FAILED": 1, "RUNNING": 1}, size=None)
    aws.answer("batch", "describe_jobs", {"jobs": [array]})
    failed = {"jobId": "one:1", "jobName": "x", "arrayProperties": {"index": 1}}
    aws.answer(
        "batch", "list_jobs", {"jobSummaryList": [failed]}, {"arrayJobId": "one", "jobStatus": "FAILED"}
    )
    child = array | {"jobId": "one:1", "container": {"logStreamName": STREAM.name}}
    aws.answer("batch", "describe_jobs", {"jobs": [child]}, {"jobs": ["one:1"]})

    stream = find_stream("one", node=None, client=aws.client)

    assert (stream.name, stream.of) == (STREAM.name, "child 1 of 2")
