"""Consumable resources: kept, listed, counted, and named by jobs."""

from typing import Any

import pytest
from tests.refusals import refusal
from tests.services.batch.training_queue import training_queue

from ultracluster_local import LocalAws


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return training_queue(local_aws)


def test_a_resource_is_kept_changed_and_deleted(batch: Any) -> None:
    made = batch.create_consumable_resource(
        consumableResourceName="licenses", totalQuantity=3, tags={"team": "a"}
    )
    arn = made["consumableResourceArn"]
    batch.update_consumable_resource(consumableResource="licenses", operation="ADD", quantity=2)
    shown = batch.describe_consumable_resource(consumableResource=arn)
    assert (shown["totalQuantity"], shown["availableQuantity"], shown["tags"]) == (5, 5, {"team": "a"})
    assert batch.list_tags_for_resource(resourceArn=arn)["tags"] == {"team": "a"}
    named = [{"name": "CONSUMABLE_RESOURCE_NAME", "values": ["LIC*"]}]
    assert len(batch.list_consumable_resources(filters=named)["consumableResources"]) == 1
    batch.delete_consumable_resource(consumableResource="licenses")
    assert batch.list_consumable_resources()["consumableResources"] == []


def test_a_job_asks_for_a_resource_by_its_definition(batch: Any) -> None:
    batch.create_consumable_resource(consumableResourceName="licenses", totalQuantity=1)
    (job,) = batch.describe_job_definitions(jobDefinitionName="job")["jobDefinitions"]
    wanted = {"consumableResourceList": [{"consumableResource": "licenses", "quantity": 1}]}
    batch.register_job_definition(
        jobDefinitionName="asks",
        type=job["type"],
        nodeProperties=job["nodeProperties"],
        consumableResourceProperties=wanted,
    )
    for definition in ("job", "asks"):
        batch.submit_job(jobName=definition, jobQueue="training", jobDefinition=definition)

    (found,) = batch.list_jobs_by_consumable_resource(consumableResource="licenses")["jobs"]
    assert (found["jobName"], found["quantity"]) == ("asks", 1)


@pytest.mark.parametrize(
    ("call", "given", "words"),
    [
        ("create", {"consumableResourceName": "licenses"}, "Object already exists"),
        ("create", {"consumableResourceName": "a b"}, "should match valid pattern"),
        ("describe", {"consumableResource": "none"}, "does not exist"),
        ("update", {"consumableResource": "licenses", "operation": "REMOVE", "quantity": 2}, "must not be negative"),
        ("update", {"consumableResource": "licenses", "operation": "TAKE", "quantity": 1}, "must be one of"),
    ],
)  # fmt: skip
def test_a_wrong_resource_is_refused(batch: Any, call: str, given: dict[str, Any], words: str) -> None:
    batch.create_consumable_resource(consumableResourceName="licenses", totalQuantity=1)

    assert words in refusal(getattr(batch, f"{call}_consumable_resource"), **given)[1]
