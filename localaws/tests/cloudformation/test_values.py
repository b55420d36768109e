"""Property values: which differ, and what they are to an API."""

from typing import Any

import pytest

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.values import changed_keys, tag_changes, to_api
from ultracluster_local.instance.clients import service_model


def converted(service: str, operation: str, value: dict[str, Any]) -> Any:
    return to_api(service_model(service).operation_model(operation).input_shape, value)


def test_properties_that_appear_disappear_or_differ_have_changed() -> None:
    assert changed_keys({"Same": 1, "Gone": 2, "Other": [1]}, {"Same": 1, "New": 3, "Other": [2]}) == [
        "Gone",
        "New",
        "Other",
    ]


@pytest.mark.parametrize(
    ("service", "operation", "value", "expected"),
    [
        (
            "batch",
            "CreateJobQueue",
            {"JobQueueName": "a", "Priority": "7"},
            {"jobQueueName": "a", "priority": 7},
        ),
        (
            "ec2",
            "CreateVpc",
            {"CidrBlock": "10.0.0.0/16", "DryRun": "true"},
            {"CidrBlock": "10.0.0.0/16", "DryRun": True},
        ),
        ("ec2", "CreateVpc", {"DryRun": "false"}, {"DryRun": False}),
        ("sns", "CreateTopic", {"Tags": {"a": "b"}}, {"Tags": [{"Key": "a", "Value": "b"}]}),
        ("batch", "CreateJobQueue", {"Tags": [{"Key": "a", "Value": 1}]}, {"tags": {"a": "1"}}),
        ("sns", "CreateTopic", {"Attributes": {"FifoTopic": True}}, {"Attributes": {"FifoTopic": "true"}}),
        (
            "iam",
            "CreateRole",
            {"AssumeRolePolicyDocument": {"a": 1}},
            {"AssumeRolePolicyDocument": '{"a": 1}'},
        ),
        ("ec2", "DeleteVpcEndpoints", {"VpcEndpointIds": "vpce-1"}, {"VpcEndpointIds": ["vpce-1"]}),
    ],
)
def test_a_value_takes_the_names_and_types_of_the_api(
    service: str, operation: str, value: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert converted(service, operation, value) == expected


def test_a_member_that_the_api_lacks_is_refused_by_its_path() -> None:
    with pytest.raises(ResourceError, match=r"does not support ComputeResources\.Colour to "):
        converted("batch", "CreateComputeEnvironment", {"ComputeResources": {"Colour": "red"}})


@pytest.mark.parametrize(
    "form", [lambda tags: tags, lambda tags: [{"Key": k, "Value": v} for k, v in tags.items()]]
)
def test_tags_that_stay_are_neither_set_nor_removed(form: Any) -> None:
    old, new = (
        form({"same": "1", "changed": "1", "gone": "1"}),
        form({"same": "1", "changed": "2", "new": "3"}),
    )

    assert tag_changes(old, new) == ({"changed": "2", "new": "3"}, ["gone"])
    assert tag_changes(None, new) == ({"same": "1", "changed": "2", "new": "3"}, [])
