"""Tags and names of AWS Batch resources."""

from typing import Any

import pytest
from tests.refusals import refusal, said_of_values
from tests.services.batch.training_queue import SIZE

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return local_aws.client("batch")


@pytest.fixture
def arns(batch: Any) -> list[str]:
    """Return the ARNs of an environment, a queue, a policy, a definition and a service environment."""
    tags = {"tags": {"team": "research"}}
    environment = batch.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED", **tags)
    order = [{"order": 1, "computeEnvironment": "nodes"}]
    queue = batch.create_job_queue(jobQueueName="q", priority=1, computeEnvironmentOrder=order, **tags)
    policy = batch.create_scheduling_policy(name="p", fairsharePolicy={}, **tags)
    definition = batch.register_job_definition(
        jobDefinitionName="d", type="container", containerProperties=SIZE, **tags
    )
    services = batch.create_service_environment(
        serviceEnvironmentName="s",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 1}],
        **tags,
    )
    return [
        environment["computeEnvironmentArn"],
        queue["jobQueueArn"],
        policy["arn"],
        definition["jobDefinitionArn"],
        services["serviceEnvironmentArn"],
    ]


def test_tags_of_every_kind_of_resource_can_be_changed_by_its_arn(batch: Any, arns: list[str]) -> None:
    for arn in arns:
        batch.tag_resource(resourceArn=arn, tags={"team": "product", "cost": "7"})
        batch.untag_resource(resourceArn=arn, tagKeys=["cost", "absent"])

        assert batch.list_tags_for_resource(resourceArn=arn)["tags"] == {"team": "product"}


def test_tags_beyond_fifty_are_refused_and_change_nothing(batch: Any, arns: list[str]) -> None:
    many = {f"k{number}": "v" for number in range(50)}

    assert "at most 50 tags" in refusal(batch.tag_resource, resourceArn=arns[0], tags=many)[1]
    assert batch.list_tags_for_resource(resourceArn=arns[0])["tags"] == {"team": "research"}


def test_a_resource_that_does_not_exist_is_named(batch: Any, arns: list[str]) -> None:
    absent = arns[0] + "x"

    assert refusal(batch.list_tags_for_resource, resourceArn=absent) == (
        "ClientException",
        f"{absent} does not exist",
    )


@pytest.mark.parametrize("name", ["a", "_a", "A-1_b", "x" * 128])
def test_names_of_letters_digits_hyphens_and_underscores_are_taken(name: str) -> None:
    assert said_of_values("batch", "CreateJobQueue", jobQueueName=name) == ""


@pytest.mark.parametrize("name", ["", "-a", "a.b", "a b", "ä", "x" * 129, "a\n"])
def test_another_name_is_refused_with_what_it_names(name: str) -> None:
    said = said_of_values("batch", "CreateJobQueue", jobQueueName=name)
    assert "Job Queue name should match a valid pattern." in said


@pytest.mark.parametrize(("count", "refused"), [(0, False), (50, False), (51, True)])
def test_a_resource_has_fifty_tags_and_no_more(count: int, *, refused: bool) -> None:
    tags = {f"k{number}": "v" for number in range(count)}

    assert ("at most 50 tags" in said_of_values("batch", "CreateJobQueue", tags=tags)) is refused
