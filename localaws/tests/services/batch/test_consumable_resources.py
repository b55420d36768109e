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


@pytest.mark.parametrize(
    ("call", "given", "words"),
    [
        ("create", {"consumableResourceName": "licenses"}, "Object already exists"),
        ("create", {"consumableResourceName": "a b"}, "should match valid pattern"),
        ("describe", {"consumableResource": "none"}, "does not exist"),
    ],
)  # fmt: skip
def test_a_wrong_resource_is_refused(batch: Any, call: str, given: dict[str, Any], words: str) -> None:
    batch.create_consumable_resource(consumableResourceName="licenses", totalQuantity=1)

    assert words in refusal(getattr(batch, f"{call}_consumable_resource"), **given)[1]
