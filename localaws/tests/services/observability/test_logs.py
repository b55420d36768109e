"""Log groups and streams that CloudWatch Logs refuses."""

import json
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def logs(local_aws: LocalAws) -> Any:
    return local_aws.client("logs")


def key(local_aws: LocalAws, group: str) -> str:
    """Create a key that the service may use for one log group; return its ARN."""
    arn = f"arn:aws:logs:us-east-1:{ACCOUNT}:log-group:{group}"
    statements = [
        {
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
            "Action": "kms:*",
            "Resource": "*",
        },
        {
            "Effect": "Allow",
            "Principal": {"Service": "logs.us-east-1.amazonaws.com"},
            "Action": ["kms:Encrypt*", "kms:Decrypt*"],
            "Resource": "*",
            "Condition": {"ArnEquals": {"kms:EncryptionContext:aws:logs:arn": arn}},
        },
    ]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    return str(local_aws.client("kms").create_key(Policy=policy)["KeyMetadata"]["Arn"])


def test_a_group_is_encrypted_with_a_key_that_lets_the_service_in(logs: Any, local_aws: LocalAws) -> None:
    arn = key(local_aws, "nodes")

    logs.create_log_group(logGroupName="nodes", kmsKeyId=arn)
    code, message = refusal(logs.create_log_group, logGroupName="others", kmsKeyId=arn)

    assert code == "AccessDeniedException"
    assert message.endswith(
        f"allowed to be used with Arn 'arn:aws:logs:us-east-1:{ACCOUNT}:log-group:others'"
    )
    assert [one["logGroupName"] for one in logs.describe_log_groups()["logGroups"]] == ["nodes"]


def test_a_key_that_does_not_exist_is_refused_for_a_group_that_does(logs: Any) -> None:
    logs.create_log_group(logGroupName="nodes")
    absent = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/absent"

    assert (
        refusal(logs.associate_kms_key, logGroupName="nodes", kmsKeyId=absent)[0] == "AccessDeniedException"
    )


def test_a_stream_is_created_once(logs: Any) -> None:
    logs.create_log_group(logGroupName="nodes")
    stream = {"logGroupName": "nodes", "logStreamName": "i-1"}
    logs.create_log_stream(**stream)

    assert refusal(logs.create_log_stream, **stream) == (
        "ResourceAlreadyExistsException",
        "The specified log stream already exists",
    )


def test_groups_are_searched_by_prefix_or_by_pattern(logs: Any) -> None:
    asked = {"logGroupNamePrefix": "/a", "logGroupNamePattern": "a"}

    assert "mutually exclusive" in refusal(logs.describe_log_groups, **asked)[1]


def test_a_metric_filter_that_is_put_again_replaces_the_one_of_its_name(logs: Any) -> None:
    logs.create_log_group(logGroupName="nodes")
    metric = {"metricName": "errors", "metricNamespace": "nodes", "metricValue": "1"}
    for name, pattern in (("errors", "ERROR"), ("errors", "FATAL"), ("others", "WARN")):
        logs.put_metric_filter(
            logGroupName="nodes", filterName=name, filterPattern=pattern, metricTransformations=[metric]
        )

    found = logs.describe_metric_filters(logGroupName="nodes")["metricFilters"]
    assert {one["filterName"]: one["filterPattern"] for one in found} == {"errors": "FATAL", "others": "WARN"}
    assert all(one["creationTime"] > 0 for one in found)
    assert logs.describe_log_groups()["logGroups"][0]["metricFilterCount"] == 2


def test_a_value_that_breaks_a_pattern_is_not_repeated_and_one_that_is_too_long_is(logs: Any) -> None:
    group = "arn:aws:logs:us-east-1:123456789012:log-group:nodes:*"

    assert refusal(logs.describe_log_streams, logGroupIdentifier=group)[1].startswith(
        "1 validation error detected: Value at 'logGroupIdentifier' failed to satisfy constraint: Member must satisfy"
    )
    metric = {"metricName": "m", "metricNamespace": "n", "metricValue": "1"}
    given = {"logGroupName": "nodes", "filterPattern": "", "metricTransformations": [metric]}
    assert (
        f"Value '{'n' * 513}' at 'filterName'"
        in refusal(logs.put_metric_filter, filterName="n" * 513, **given)[1]
    )


@pytest.mark.parametrize(
    ("call", "given", "words"),
    [
        ("get_log_events", {"logGroupName": "g", "logStreamName": "none"}, "The specified log stream does not exist."),
        ("delete_metric_filter", {"logGroupName": "g", "filterName": "none"}, "The specified metric filter does not exist."),
        ("disassociate_kms_key", {"logGroupName": "none"}, "The specified log group does not exist."),
        ("put_resource_policy", {"policyName": "p", "policyDocument": "none"}, "Error occurred while parsing accessPolicy."),
        ("put_metric_filter", {"logGroupName": "g", "filterName": "f", "filterPattern": "[a", "metricTransformations": [{"metricName": "m", "metricNamespace": "n", "metricValue": "1"}]}, "If a filter pattern starts with '[' it must end with ']'"),
        ("put_metric_filter", {"logGroupName": "g", "filterName": "f", "filterPattern": "[a]", "metricTransformations": [{"metricName": "m", "metricNamespace": "AWS/n", "metricValue": "1"}]}, "Metric namespaces starting with AWS/ are reserved for AWS."),
    ],
)  # fmt: skip
def test_what_is_absent_or_malformed_is_refused(
    local_aws: LocalAws, call: str, given: dict[str, Any], words: str
) -> None:
    logs = local_aws.client("logs")
    logs.create_log_group(logGroupName="g")

    assert words in refusal(getattr(logs, call), **given)[1]


def test_events_up_to_an_index_are_too_old(local_aws: LocalAws) -> None:
    logs = local_aws.client("logs")
    logs.create_log_group(logGroupName="g")
    logs.create_log_stream(logGroupName="g", logStreamName="s")
    now = int(local_aws.clock.now().timestamp() * 1000)
    events = [{"timestamp": now - days * 86_400_000, "message": "m"} for days in (16, 15, 0)]

    answer = logs.put_log_events(logGroupName="g", logStreamName="s", logEvents=events)
    assert answer["rejectedLogEventsInfo"] == {"tooOldLogEventEndIndex": 2}


def test_a_group_loses_its_key(local_aws: LocalAws) -> None:
    logs = local_aws.client("logs")
    logs.create_log_group(logGroupName="g")
    logs.disassociate_kms_key(logGroupName="g")

    assert "kmsKeyId" not in logs.describe_log_groups()["logGroups"][0]
