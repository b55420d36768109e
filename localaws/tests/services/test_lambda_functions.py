"""Functions, permissions and settings that Lambda refuses."""

import io
import json
import zipfile
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws
from ultracluster_local.services.service_quotas import set_quota

pytestmark = pytest.mark.slow

ARN = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function"


def archive(answer: int = 1) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as writer:
        writer.writestr(
            "index.py", f"def handler(event, context):\n    return {answer}, context.function_version\n"
        )
    return packed.getvalue()


def role(local_aws: LocalAws, service: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    name = service.partition(".")[0]
    return str(
        local_aws.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=policy)["Role"]["Arn"]
    )


@pytest.fixture
def given(local_aws: LocalAws) -> dict[str, Any]:
    """The settings of a function that Lambda creates."""
    return {
        "FunctionName": "f",
        "Runtime": "python3.13",
        "Role": role(local_aws, "lambda.amazonaws.com"),
        "Handler": "index.handler",
        "Code": {"ZipFile": archive()},
    }


@pytest.fixture
def functions(local_aws: LocalAws, given: dict[str, Any]) -> Any:
    """A client of Lambda with the function f."""
    client = local_aws.client("lambda")
    client.create_function(**given)
    return client


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"Runtime": "python3.7"}, "The runtime parameter of python3.7 is no longer supported"),
        ({"Environment": {"Variables": {"ABC": "x" * 4096}}}, "exceeded the 4KB limit."),
        ({"VpcConfig": {"SubnetIds": ["subnet-0"], "SecurityGroupIds": []}}, "The subnet ID 'subnet-0' does not exist"),
        ({"VpcConfig": {"SubnetIds": [], "SecurityGroupIds": ["sg-0"]}}, "The security group 'sg-0' does not exist"),
        ({"Role": f"arn:aws:iam::{ACCOUNT}:role/absent"}, "cannot be assumed by Lambda."),
        ({"Code": {"ZipFile": b"def handler"}}, "Could not unzip uploaded file."),
        ({"Code": {"S3Bucket": "absent", "S3Key": "k"}}, "S3 Error Code: NoSuchBucket."),
        ({"Code": {"S3Bucket": "mine", "S3Key": "absent"}}, "S3 Error Code: NoSuchKey."),
        ({"Architectures": ["x86_64", "arm64"]}, "Member must have length less than or equal to 1"),
    ],
)  # fmt: skip
def test_a_function_that_could_not_run_is_refused(
    local_aws: LocalAws, given: dict[str, Any], more: dict[str, Any], words: str
) -> None:
    local_aws.client("s3").create_bucket(Bucket="mine")
    client = local_aws.client("lambda")

    assert words in refusal(client.create_function, **given | more)[1]
    assert client.list_functions()["Functions"] == []


def test_a_role_that_trusts_another_service_is_refused(local_aws: LocalAws, functions: Any) -> None:
    other = role(local_aws, "ec2.amazonaws.com")

    message = refusal(functions.update_function_configuration, FunctionName="f", Role=other)[1]

    assert message == "The role defined for the function cannot be assumed by Lambda."


def test_code_is_updated_by_an_archive(functions: Any) -> None:
    assert "Could not unzip" in refusal(functions.update_function_code, FunctionName="f", ZipFile=b"x")[1]
    functions.update_function_code(FunctionName="f", ZipFile=archive())


@pytest.mark.parametrize(
    ("quota", "reserved", "taken"),
    [(1000, 900, True), (1000, 901, False), (50, 40, True), (50, 41, False), (10, 0, True)],
)
def test_a_reservation_leaves_concurrency_to_other_functions(
    functions: Any, quota: int, reserved: int, *, taken: bool
) -> None:
    set_quota(region="us-east-1", service="lambda", code="L-B99A9384", value=quota)
    asked = {"FunctionName": "f", "ReservedConcurrentExecutions": reserved}

    if taken:
        functions.put_function_concurrency(**asked)
        functions.put_function_concurrency(**asked)  # in place of itself
    else:
        assert "below its minimum value of [" in refusal(functions.put_function_concurrency, **asked)[1]


def test_versions_have_no_reservation(functions: Any) -> None:
    for name in ("f:1", f"{ARN}:f:1"):
        asked = {"FunctionName": name, "ReservedConcurrentExecutions": 1}
        assert (
            "permitted on Lambda functions only." in refusal(functions.put_function_concurrency, **asked)[1]
        )


def test_a_permission_has_a_unique_id_and_a_principal(functions: Any) -> None:
    permission = {"FunctionName": "f", "StatementId": "s", "Action": "lambda:InvokeFunction"}
    assert (
        "The provided principal was invalid."
        in refusal(functions.add_permission, **permission, Principal="events")[1]
    )

    functions.add_permission(**permission, Principal="events.amazonaws.com")

    code, message = refusal(functions.add_permission, **permission, Principal="*")
    assert (code, "The statement id (s) provided already exists." in message) == (
        "ResourceConflictException",
        True,
    )


def test_the_unpublished_version_is_not_deleted_alone(functions: Any) -> None:
    message = refusal(functions.delete_function, FunctionName="f", Qualifier="$LATEST")[1]

    assert message == "$LATEST version cannot be deleted without deleting the function."
    functions.delete_function(FunctionName="f")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "You must specify at least one of error handling or destination setting."),
        ({"DestinationConfig": {"OnFailure": {"Destination": f"{ARN}:f"}}}, "as a destination for itself."),
        ({"DestinationConfig": {"OnSuccess": {"Destination": f"{ARN}:absent"}}}, "is invalid."),
    ],
)
def test_a_destination_is_another_function_that_exists(
    functions: Any, settings: dict[str, Any], words: str
) -> None:
    assert words in refusal(functions.put_function_event_invoke_config, FunctionName="f", **settings)[1]


def test_a_function_has_up_to_fifty_tags(functions: Any) -> None:
    functions.tag_resource(Resource=f"{ARN}:f", Tags={f"k{number}": "v" for number in range(50)})

    assert (
        "exceeds resource tag limit."
        in refusal(functions.tag_resource, Resource=f"{ARN}:f", Tags={"more": "v"})[1]
    )
    functions.tag_resource(Resource=f"{ARN}:f", Tags={"k1": "w"})


def test_a_function_is_pending_when_it_is_created(local_aws: LocalAws, given: dict[str, Any]) -> None:
    """localstack/localstack, tests/aws/services/lambda_/test_lambda_api.snapshot.json (2025-11-25)."""
    made = local_aws.client("lambda").create_function(**given)

    assert (made["State"], made["StateReasonCode"], "LastUpdateStatus" in made) == (
        "Pending",
        "Creating",
        False,
    )


def test_a_function_says_where_it_logs(functions: Any) -> None:
    """localstack/localstack, test_lambda_api.snapshot.json."""
    own = {"LogFormat": "Text", "LogGroup": "/aws/lambda/f"}
    assert functions.get_function(FunctionName="f")["Configuration"]["LoggingConfig"] == own


def test_a_version_is_published_once_for_each_change_and_keeps_its_code(functions: Any) -> None:
    def publish() -> list[str]:
        return [functions.publish_version(FunctionName="f")["Version"] for _ in range(2)]

    functions.update_function_configuration(FunctionName="f", Timeout=9)
    assert publish() == ["1", "1"]
    functions.update_function_code(FunctionName="f", ZipFile=archive(2))
    assert publish() == ["2", "2"]
    functions.update_function_code(FunctionName="f", ZipFile=archive(3))

    for asked, version, answer in (
        ({}, "$LATEST", 3),
        ({"Qualifier": "$LATEST"}, "$LATEST", 3),
        ({"Qualifier": "1"}, "1", 1),
        ({"FunctionName": f"{ARN}:f:2"}, "2", 2),
    ):
        ran = functions.invoke(**{"FunctionName": "f", **asked})
        assert (ran["ExecutedVersion"], json.loads(ran["Payload"].read())) == (version, [answer, version])
    assert refusal(functions.invoke, FunctionName="f", Qualifier="3")[0] == "ResourceNotFoundException"


def test_only_the_code_and_the_revision_that_are_meant_are_published(functions: Any) -> None:
    latest = functions.get_function_configuration(FunctionName="f")
    digest = latest["CodeSha256"]

    assert refusal(functions.publish_version, FunctionName="f", CodeSha256="other") == (
        "InvalidParameterValueException",
        f"CodeSHA256 (other) is different from current CodeSHA256 in $LATEST ({digest}). Please try again with the CodeSHA256 in $LATEST.",
    )
    assert refusal(functions.publish_version, FunctionName="f", RevisionId="other")[0] == (
        "PreconditionFailedException"
    )
    assert [one["Version"] for one in functions.list_versions_by_function(FunctionName="f")["Versions"]] == [
        "$LATEST"
    ]
    asked = {"CodeSha256": digest, "RevisionId": latest["RevisionId"]}
    assert functions.publish_version(FunctionName="f", **asked)["Version"] == "1"


# What AWS answered to the tests of localstack/localstack, test_lambda_api.snapshot.json (2026-01).


@pytest.mark.parametrize(
    ("call", "more", "code", "words"),
    [
        ("get_alias", {"Name": "none"}, "ResourceNotFoundException", f"Cannot find alias arn: {ARN}:f:none"),
        ("update_alias", {"Name": "none"}, "ResourceNotFoundException", f"Alias not found: {ARN}:f:none"),
        ("create_alias", {"Name": "live", "FunctionVersion": "1"}, "ResourceConflictException", f"Alias already exists: {ARN}:f:live"),
        ("create_alias", {"Name": "a", "FunctionVersion": "9"}, "ResourceNotFoundException", f"Function not found: {ARN}:f:9"),
        ("create_alias", {"Name": "a", "FunctionVersion": "1", "RoutingConfig": {"AdditionalVersionWeights": {"1": 0.5}}}, "InvalidParameterValueException", "Invalid function version 1. Function version 1 is already included in routing configuration."),
        ("create_alias", {"Name": "a", "FunctionVersion": "$LATEST", "RoutingConfig": {"AdditionalVersionWeights": {"1": 0.5}}}, "InvalidParameterValueException", "$LATEST is not supported for an alias pointing to more than 1 version"),
        ("create_alias", {"Name": "a", "FunctionVersion": "1", "RoutingConfig": {"AdditionalVersionWeights": {"1": 0.5, "2": 0.1}}}, "InvalidParameterValueException", "Number of items in AdditionalVersionWeights cannot be greater than 1"),
        ("remove_permission", {"FunctionName": "none", "StatementId": "s"}, "ResourceNotFoundException", f"No policy found for: {ARN}:none"),
        ("put_function_event_invoke_config", {"FunctionName": "none", "MaximumRetryAttempts": 1}, "ResourceNotFoundException", "The function doesn't exist."),
        ("put_function_event_invoke_config", {"DestinationConfig": {"OnFailure": {"Destination": "arn:aws:iam:us-east-1:123456789012:x"}}}, "InvalidParameterValueException", "The provided destination config DestinationConfig(onSuccess=null, onFailure=OnFailure(destination=arn:aws:iam:us-east-1:123456789012:x)) is invalid."),
        ("put_function_concurrency", {"FunctionName": "f:1", "ReservedConcurrentExecutions": 1}, "InvalidParameterValueException", "This operation is permitted on Lambda functions only. Aliases and versions do not support this operation. Please specify either a function name or an unqualified function ARN."),
        ("update_function_configuration", {"Layers": [f"arn:aws:lambda:us-west-2:{ACCOUNT}:layer:l:1"]}, "InvalidParameterValueException", "Layers are not in the same region as the function. Layers are expected to be in region us-east-1."),
    ],
)  # fmt: skip
def test_aliases_and_settings_are_refused_in_the_words_of_aws(
    functions: Any, call: str, more: dict[str, Any], code: str, words: str
) -> None:
    functions.publish_version(FunctionName="f")
    functions.create_alias(FunctionName="f", Name="live", FunctionVersion="1")
    assert refusal(getattr(functions, call), **{"FunctionName": "f", **more}) == (code, words)


def test_an_alias_runs_the_version_that_it_names(functions: Any) -> None:
    functions.publish_version(FunctionName="f")
    weights = {"AdditionalVersionWeights": {"2": 0.1}}
    functions.create_alias(FunctionName="f", Name="live", FunctionVersion="1", RoutingConfig=weights)
    assert functions.invoke(FunctionName="f", Qualifier="live")["ExecutedVersion"] == "1"
    functions.update_alias(FunctionName="f", Name="live", FunctionVersion="$LATEST", RoutingConfig={})
    assert functions.get_alias(FunctionName="f", Name="live")["FunctionVersion"] == "$LATEST"


@pytest.mark.parametrize("qualifier", ["none", "42"])
def test_a_permission_of_a_qualifier_that_is_not_there_is_refused_as_an_alias_or_a_version(
    functions: Any, qualifier: str
) -> None:
    what = "Cannot find alias arn" if qualifier == "none" else "Function not found"
    given = {"StatementId": "s", "Action": "lambda:InvokeFunction", "Principal": "s3.amazonaws.com"}
    said = refusal(functions.add_permission, FunctionName="f", Qualifier=qualifier, **given)
    assert said == ("ResourceNotFoundException", f"{what}: {ARN}:f:{qualifier}")


def test_a_function_has_one_url(functions: Any) -> None:
    made = functions.create_function_url_config(FunctionName="f", AuthType="NONE")
    assert (made["InvokeMode"], made["FunctionArn"]) == ("BUFFERED", f"{ARN}:f")
    code, words = refusal(functions.create_function_url_config, FunctionName="f", AuthType="NONE")
    assert code == "ResourceConflictException"
    assert words.endswith("Error message:  FunctionUrlConfig exists for this Lambda function")
    functions.delete_function_url_config(FunctionName="f")
    mode = {"AuthType": "AWS_IAM", "InvokeMode": "RESPONSE_STREAM"}
    assert functions.create_function_url_config(FunctionName="f", **mode)["InvokeMode"] == "RESPONSE_STREAM"


@pytest.mark.parametrize(
    ("call", "more", "code"),
    [
        ("get_layer_version", {"LayerName": "l", "VersionNumber": 0}, "InvalidParameterValueException"),
        ("tag_resource", {"Resource": f"{ARN}:f", "Tags": {}}, "InvalidParameterValueException"),
        ("tag_resource", {"Resource": f"{ARN}:f:1", "Tags": {"a": "b"}}, "InvalidParameterValueException"),
        (
            "put_function_code_signing_config",
            {
                "FunctionName": "f",
                "CodeSigningConfigArn": f"arn:aws:lambda:us-east-1:{ACCOUNT}:code-signing-config:csc-{'0' * 17}",
            },
            "CodeSigningConfigNotFoundException",
        ),
    ],
)
def test_a_value_that_no_function_has_is_refused(
    functions: Any, call: str, more: dict[str, Any], code: str
) -> None:
    assert refusal(getattr(functions, call), **more)[0] == code


def test_reserved_variables_are_named(functions: Any) -> None:
    variables = {"AWS_REGIONAL": "taken", "AWS_REGION": "us-east-1"}
    code, words = refusal(
        functions.update_function_configuration, FunctionName="f", Environment={"Variables": variables}
    )
    assert code == "InvalidParameterValueException"
    assert words.endswith("Reserved keys used in this request: AWS_REGION")
