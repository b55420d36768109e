"""Lists of jobs: filters, and the front of a queue."""

from typing import Any

import pytest
from tests.refusals import refusal
from tests.services.batch.training_queue import training_queue

from ultracluster_local import LocalAws


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return training_queue(local_aws)


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("JOB_NAME", ["test1"], ["test1", "Test1"]),
        ("JOB_NAME", ["TEST1*"], ["Test10", "test1", "Test1"]),
        ("JOB_NAME", ["test"], []),
        ("JOB_NAME", ["test1", "other"], ["other", "test1", "Test1"]),
        ("JOB_DEFINITION", ["job"], ["other", "Test10", "test1", "Test1"]),
        ("JOB_DEFINITION", ["job:1"], ["other", "Test10", "test1", "Test1"]),
        ("JOB_DEFINITION", ["jo*"], ["other", "Test10", "test1", "Test1"]),
        ("JOB_DEFINITION", ["job:2"], []),
        ("AFTER_CREATED_AT", ["0"], ["other", "Test10", "test1", "Test1"]),
        ("AFTER_CREATED_AT", ["99999999999999"], []),
        ("BEFORE_CREATED_AT", ["99999999999999"], ["other", "Test10", "test1", "Test1"]),
        ("BEFORE_CREATED_AT", ["0"], []),
        ("SHARE_IDENTIFIER", ["research"], []),
    ],
)  # fmt: skip
def test_a_filter_looks_at_jobs_in_any_state_and_shows_the_newest_first(
    batch: Any, name: str, values: list[str], found: list[str]
) -> None:
    # API_ListJobs, filters
    for job in ("Test1", "test1", "Test10", "other"):
        batch.submit_job(jobName=job, jobQueue="training", jobDefinition="job")
    gone = batch.list_jobs(jobQueue="training", filters=[{"name": "JOB_NAME", "values": ["Test10"]}])
    batch.terminate_job(jobId=gone["jobSummaryList"][0]["jobId"], reason="not wanted")

    listed = batch.list_jobs(jobQueue="training", filters=[{"name": name, "values": values}])
    assert [one["jobName"] for one in listed["jobSummaryList"]] == found


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ([("SIZE", ["1"])], "Invalid filter SIZE"),
        ([("AFTER_CREATED_AT", ["today"])], "must be a time in milliseconds"),
        ([("JOB_NAME", ["a"]), ("JOB_DEFINITION", ["b"])], "Only one filter"),
    ],
)
def test_a_filter_that_batch_does_not_have_is_refused(batch: Any, filters: Any, words: str) -> None:
    given = [{"name": name, "values": values} for name, values in filters]

    assert words in refusal(batch.list_jobs, jobQueue="training", filters=given)[1]


def test_the_front_of_a_queue_is_what_waited_longest(batch: Any) -> None:
    jobs = [batch.submit_job(jobName=name, jobQueue="training", jobDefinition="job") for name in "abc"]
    batch.terminate_job(jobId=jobs[0]["jobId"], reason="not wanted")

    front = batch.get_job_queue_snapshot(jobQueue="training")["frontOfQueue"]["jobs"]
    assert [one["jobArn"] for one in front] == [one["jobArn"] for one in jobs[1:]]
    assert "does not exist" in refusal(batch.get_job_queue_snapshot, jobQueue="none")[1]
