"""Batch resources of a Region: found, changed over time, and failed."""

from datetime import timedelta

import pytest
from tests.unit.local.refusals import said

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.state import (
    batch_of,
    begin_change,
    complete_change,
    find,
    finish_job,
    get,
    refuse_changing,
)

pytestmark = pytest.mark.deploy

THINGS = {"arn:1": {"name": "one"}, "arn:2": {"name": "two"}}


def test_a_resource_is_found_by_arn_and_by_name() -> None:
    assert find(THINGS, "name", "arn:2") is find(THINGS, "name", "two") is THINGS["arn:2"]
    assert find(THINGS, "name", "three") is None
    assert get(THINGS, "name", "one") is THINGS["arn:1"]
    assert said(get, THINGS, "name", "three") == "ClientException: three does not exist"


def test_a_change_ends_by_itself_at_its_time(local_aws: LocalAws) -> None:
    local_aws.delays.batch = timedelta(minutes=1)
    batch = batch_of("us-east-1")
    batch.queues["arn"] = {}

    begin_change(batch, "arn", "CREATING", {"status": "VALID"})

    assert batch_of("us-east-1").queues["arn"] == {"status": "CREATING"}
    assert "Cannot update, resource is being modified" in said(refuse_changing, batch, "arn", "update")
    local_aws.clock.advance(timedelta(minutes=1))
    assert batch_of("us-east-1").queues["arn"] == {"status": "VALID"}
    assert said(refuse_changing, batch, "arn", "update") == ""


def test_a_deletion_removes_the_resource_when_it_ends(local_aws: LocalAws) -> None:
    local_aws.delays.batch = timedelta(minutes=1)
    batch = batch_of("us-east-1")
    batch.environments["arn"] = {}
    begin_change(batch, "arn", "DELETING", {})
    assert batch.environments["arn"]["status"] == "DELETING"

    complete_change(batch, "arn")
    complete_change(batch, "arn")  # what does not change stays as it is

    assert batch.environments == {}


def test_a_change_takes_no_time_by_default(local_aws: LocalAws) -> None:
    batch = batch_of(local_aws.client("batch").meta.region_name)
    batch.queues["arn"] = {}

    begin_change(batch, "arn", "UPDATING", {"status": "VALID"})

    assert batch.queues["arn"]["status"] == "VALID"


def test_a_failed_job_says_why_and_when(local_aws: LocalAws) -> None:
    job: dict[str, object] = {"status": "RUNNING"}

    finish_job(job, reason="not wanted")

    assert (job["status"], job["statusReason"]) == ("FAILED", "not wanted")
    assert job["stoppedAt"] == pytest.approx(local_aws.clock.now().timestamp() * 1000, abs=5000)
