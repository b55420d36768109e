"""Consumable resources: kept, and refused."""

from typing import Any

import pytest
from tests.refusals import refusal
from tests.services.batch.training_queue import training_queue

from ultracluster_local import LocalAws


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return training_queue(local_aws)


def test_a_resource_is_kept_with_its_tags(batch: Any) -> None:
    made = batch.create_consumable_resource(
        consumableResourceName="licenses", totalQuantity=3, tags={"team": "a"}
    )
    arn = made["consumableResourceArn"]
    shown = batch.describe_consumable_resource(consumableResource=arn)
    assert (shown["totalQuantity"], shown["availableQuantity"], shown["tags"]) == (3, 3, {"team": "a"})
    assert batch.list_tags_for_resource(resourceArn=arn)["tags"] == {"team": "a"}


def test_a_quantity_is_set_raised_and_lowered(batch: Any) -> None:
    batch.create_consumable_resource(consumableResourceName="licenses", totalQuantity=3)
    for operation, quantity, total in (("ADD", 2, 5), ("REMOVE", 4, 1), ("SET", 7, 7)):
        changed = batch.update_consumable_resource(
            consumableResource="licenses", operation=operation, quantity=quantity
        )
        assert changed["totalQuantity"] == total
    words = refusal(
        batch.update_consumable_resource, consumableResource="licenses", operation="REMOVE", quantity=8
    )[1]
    assert "totalQuantity cannot be a negative number." in words
    assert batch.describe_consumable_resource(consumableResource="licenses")["availableQuantity"] == 7


def test_resources_and_the_jobs_that_need_them_are_listed_until_they_are_deleted(batch: Any) -> None:
    for name in ("licenses", "tokens"):
        batch.create_consumable_resource(consumableResourceName=name, totalQuantity=3)
    needs = {"consumableResourceList": [{"consumableResource": "licenses", "quantity": 2}]}
    for name, asked in (("One", needs), ("two", {"consumableResourceList": []})):
        batch.submit_job(
            jobName=name, jobQueue="training", jobDefinition="job", consumableResourcePropertiesOverride=asked
        )

    def listed(**filters: str) -> list[str]:
        given = [{"name": name, "values": [value]} for name, value in filters.items()]
        answer = batch.list_jobs_by_consumable_resource(consumableResource="licenses", filters=given)
        return [job["jobName"] for job in answer["jobs"]]

    assert (listed(), listed(JOB_NAME="o*"), listed(JOB_NAME="t*")) == (["One"], ["One"], [])
    assert (listed(JOB_STATUS="RUNNABLE"), listed(JOB_STATUS="RUNNING")) == (["One"], [])
    filters = [{"name": "CONSUMABLE_RESOURCE_NAME", "values": ["LIC*"]}]
    (found,) = batch.list_consumable_resources(filters=filters)["consumableResources"]
    assert found["consumableResourceName"] == "licenses"
    batch.delete_consumable_resource(consumableResource="licenses")
    (left,) = batch.list_consumable_resources()["consumableResources"]
    assert left["consumableResourceName"] == "tokens"


@pytest.mark.parametrize(
    ("call", "given", "words"),
    [
        ("create", {"consumableResourceName": "licenses"}, "Object already exists"),
        ("create", {"consumableResourceName": "a b"}, "ConsumableResource name should match a valid pattern."),
        ("create", {"consumableResourceName": "a", "totalQuantity": -1}, "totalQuantity cannot be a negative number."),
        ("create", {"consumableResourceName": "a", "resourceType": "RENEWABLE"}, "resourceType RENEWABLE is not valid"),
        ("update", {"consumableResource": "licenses", "operation": "MULTIPLY"}, "operation MULTIPLY is not valid"),
        ("describe", {"consumableResource": "none"}, "does not exist"),
    ],
)  # fmt: skip
def test_a_wrong_resource_is_refused(batch: Any, call: str, given: dict[str, Any], words: str) -> None:
    batch.create_consumable_resource(consumableResourceName="licenses", totalQuantity=1)

    assert words in refusal(getattr(batch, f"{call}_consumable_resource"), **given)[1]
