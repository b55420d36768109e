"""Constraints of service models: what they refuse, and in which words."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws
from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.model_constraints import violations

RETENTION = {"logGroupName": "group", "kmsKeyId": "k" * 257}


def found(service: str, operation: str, given: dict[str, Any]) -> list[str]:
    return list(violations(service_model(service).operation_model(operation).input_shape, given))


def test_takes_what_the_model_allows() -> None:
    assert found("logs", "CreateLogGroup", {"logGroupName": "/a/b", "tags": {"k": "v"}}) == []


@pytest.mark.parametrize(
    ("service", "operation", "given", "words"),
    [
        ("logs", "CreateLogGroup", {"logGroupName": ""}, "length greater than or equal to 1"),
        ("logs", "CreateLogGroup", {"logGroupName": "a b"}, "satisfy regular expression pattern"),
        (
            "logs",
            "CreateLogGroup",
            RETENTION,
            "at 'kmsKeyId' failed to satisfy constraint: Member must have length less",
        ),
        ("fsx", "CreateFileSystem", {"StorageType": "TAPE"}, "enum value set: [SSD, HDD"),
        ("lambda", "CreateFunction", {"Timeout": 0}, "have value greater than or equal to 1"),
        # One message names all constraints of the scalars in a collection: aws-actions/amazon-ecr-login, README.md, and
        # localstack/localstack, tests/aws/services/lambda_/test_lambda_api.snapshot.json.
        (
            "ecr",
            "GetAuthorizationToken",
            {"registryIds": ["123456789012", "1"]},
            "Value '[123456789012, 1]' at 'registryIds' failed to satisfy constraint: Member must satisfy constraint: [Member must satisfy regular expression pattern: [0-9]{12}]",
        ),
        (
            "lambda",
            "CreateFunction",
            {"Architectures": ["X86_64"]},
            "Value '[X86_64]' at 'architectures' failed to satisfy constraint: Member must satisfy constraint: [Member must satisfy enum value set: [x86_64, arm64]",
        ),
        (
            "lambda",
            "CreateAlias",
            {"RoutingConfig": {"AdditionalVersionWeights": {"2": 2.0}}},
            "Value '{2=2.0}' at 'routingConfig.additionalVersionWeights' failed to satisfy constraint: Map value must satisfy constraint: [Member must have value less than or equal to 1.0, Member must have value greater than or equal to 0.0]",
        ),
        (
            "lambda",
            "CreateAlias",
            {"RoutingConfig": {"AdditionalVersionWeights": {"$LATEST": 0.5}}},
            "Value '{$LATEST=0.5}' at 'routingConfig.additionalVersionWeights' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 1024, Member must have length greater than or equal to 1, Member must satisfy regular expression pattern: [0-9]+]",
        ),
    ],
)
def test_says_which_member_violates_what(
    service: str, operation: str, given: dict[str, Any], words: str
) -> None:
    assert [said for said in found(service, operation, given) if words in said]


@pytest.mark.slow
def test_all_violations_of_a_request_are_one_answer(local_aws: LocalAws) -> None:
    logs = local_aws.client("logs")
    with pytest.raises(ClientError, match="2 validation errors detected") as caught:
        logs.create_log_group(logGroupName="a b", kmsKeyId="k" * 257)
    assert caught.value.response["Error"]["Code"] == "InvalidParameterException"


@pytest.mark.slow
def test_a_pattern_that_the_service_does_not_mind_refuses_nothing(local_aws: LocalAws) -> None:
    logs = local_aws.client("logs")
    logs.create_log_group(logGroupName="g")
    metric = {"metricName": "m", "metricNamespace": "A.B-c_d/1#2:metricNamespace", "metricValue": "1"}
    logs.put_metric_filter(logGroupName="g", filterName="f", filterPattern="", metricTransformations=[metric])
    (kept,) = logs.describe_metric_filters(logGroupName="g")["metricFilters"]
    assert (kept["metricTransformations"], kept["applyOnTransformedLogs"]) == ([metric], False)
