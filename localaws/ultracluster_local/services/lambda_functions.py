"""Lambda functions: the states that they begin in, and what CreateFunction, permissions and asynchronous invocations refuse."""

import base64
import io
import json
import uuid
import zipfile
from collections.abc import Mapping
from typing import Any

from moto.awslambda.exceptions import UnknownEventConfig
from moto.awslambda.models import (
    EventInvokeConfig,
    FunctionUrlConfig,
    LambdaBackend,
    LambdaFunction,
    lambda_backends,
)
from moto.awslambda.responses import LambdaResponse
from moto.ec2.models import ec2_backends
from moto.s3.models import s3_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks, given_parameters
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.iam.roles import can_assume, may_call
from ultracluster_local.services.replacing import instead_of
from ultracluster_local.services.service_quotas import quota_value

__all__: list[str] = []

_check = Checks(service="lambda")

_LARGEST_ENVIRONMENT = 4096
_LATEST = "$LATEST"
# https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html: always left to functions without a reservation.
_LEAST_UNRESERVED = 100
_LEAST_UNRESERVED_OF_SMALL_ACCOUNTS = 10
_CONCURRENCY_QUOTA = "L-B99A9384"


@instead_of(EventInvokeConfig, "__init__")
@instead_of(UnknownEventConfig, "__init__")
def _of_latest(original: Any, made: Any, arn: str, *given: Any) -> None:
    """Name the version whose asynchronous invocations are set: localstack/localstack, test_lambda_api.snapshot.json."""
    original(made, f"{arn}:{_LATEST}", *given)


@instead_of(EventInvokeConfig, "response")
def _with_destinations(original: Any, made: Any) -> Any:
    given = made.config.get("DestinationConfig") or {}
    return {**original(made), "DestinationConfig": {"OnSuccess": {}, "OnFailure": {}, **given}}


@instead_of(FunctionUrlConfig, "__init__")
def _buffered(original: Any, made: Any, function: Any, config: Mapping[str, Any]) -> None:
    original(made, function, {"InvokeMode": "BUFFERED", **config})


@instead_of(LambdaBackend, "put_function_event_invoke_config")
def _put_event_invoke_config(original: Any, backend: Any, name: str, config: Mapping[str, Any]) -> Any:
    """Replace the settings that a function has; moto adds others and answers the first ones."""
    backend.get_function(name).event_invoke_config = []
    return original(backend, name, config)


@instead_of(LambdaBackend, "update_function_event_invoke_config")
def _update_event_invoke_config(_: Any, backend: Any, name: str, config: Mapping[str, Any]) -> Any:
    backend.get_function_event_invoke_config(name)  # which refuses to update what is not there
    kept = backend.get_function(name).event_invoke_config[0].config
    return backend.put_function_event_invoke_config(name, {**kept, **config})


@instead_of(LambdaBackend, "publish_version")
def _publish_version(original: Any, backend: Any, name: str, description: str = "") -> Any:
    """Publish a change once; moto publishes what changed before the first version twice."""
    published = original(backend, name, description)
    backend.get_function(name).code_or_config_updated = False
    return published


@instead_of(LambdaFunction, "__init__", "update_configuration", "update_function_code")
def _revised(original: Any, function: Any, *given: Any, **named: Any) -> Any:
    function.revision_id = str(uuid.uuid4())
    return original(function, *given, **named)


@instead_of(LambdaFunction, "get_configuration")
def _get_configuration(original: Any, function: Any, *given: Any, **named: Any) -> Any:
    """Say where a function logs, and its revision: the same snapshot."""
    logging = {"LogFormat": "Text", "LogGroup": f"/aws/lambda/{function.function_name}"}
    more = {"LoggingConfig": logging, "RevisionId": function.revision_id}
    return {**original(function, *given, **named), **more}


@instead_of(LambdaResponse, "invoke")
def _invoke(original: Any, response: Any) -> Any:
    """Run the version that is asked for, which moto looks for under another name, and say which one ran."""
    given = given_parameters(response, "Invoke")
    response.querystring["qualifier"] = [given.get("Qualifier")]
    ran = str(response.backend.get_function(given["FunctionName"], given.get("Qualifier")).version)
    status, headers, body = original(response)
    return status, {**headers, "X-Amz-Executed-Version": ran}, body


def _wrong(message: str) -> ServiceError:
    return ServiceError("InvalidParameterValueException", message)


@_check("CreateFunction", "UpdateFunctionConfiguration")
def check_configuration(request: Request) -> None:
    """Refuse too many environment variables, absent subnets, and a role that Lambda cannot assume."""
    _check_layers(request)
    variables = (request.parameters.get("Environment") or {}).get("Variables") or {}
    measured = json.dumps(variables, separators=(",", ":"))
    if len(measured.encode()) > _LARGEST_ENVIRONMENT:
        problem = "the environment variables you have provided exceeded the 4KB limit."
        raise _wrong(
            f"Lambda was unable to configure your environment variables because {problem} String measured: {measured}"
        )
    _check_network(request)
    role = request.parameters.get("Role")
    if role and not can_assume("lambda.amazonaws.com", role):
        raise _wrong("The role defined for the function cannot be assumed by Lambda.")
    queue = (request.parameters.get("DeadLetterConfig") or {}).get("TargetArn") or ""
    call = {"sqs": "SendMessage", "sns": "Publish"}.get((queue.split(":") + [""] * 3)[2])
    if role and call and not may_call(role, f"{queue.split(':')[2]}:{call}"):
        service = queue.split(":")[2].upper()
        raise _wrong(f"The provided execution role does not have permissions to call {call} on {service}")
    in_network = (request.parameters.get("VpcConfig") or {}).get("SubnetIds")
    if role and in_network and not may_call(role, "ec2:CreateNetworkInterface"):
        # cloudposse/terraform-aws-lambda-function#10 (2022-04-20)
        raise _wrong(
            "The provided execution role does not have permissions to call CreateNetworkInterface on EC2"
        )


def _check_layers(request: Request) -> None:
    layers = request.parameters.get("Layers") or []
    names = {layer.rpartition(":")[0]: layer for layer in layers}
    for layer in layers:
        if (last := names[layer.rpartition(":")[0]]) != layer:
            rule = "Two different versions of the same layer are not allowed to be referenced in the same function."
            raise _wrong(f"{rule} {layer} and {last}.")
        _, _, _, region, account, *_ = layer.split(":")
        if region != request.region:
            rule = "Layers are not in the same region as the function."
            raise _wrong(f"{rule} Layers are expected to be in region {request.region}.")
        if account == ACCOUNT and not _has_layer(layer, request.region):
            raise _wrong(f"Layer version {layer} does not exist.")


def _has_layer(arn: str, region: str) -> bool:
    name, version = arn.rsplit(":", 2)[1:]
    layer = lambda_backends[ACCOUNT][region]._layers._layers.get(name)  # noqa: SLF001 - moto has no other place
    return layer is not None and version in {str(one) for one in layer.layer_versions}


@_check("CreateFunction")
def check_handler(request: Request) -> None:
    """Refuse an archive without runtime and handler."""
    given = request.parameters
    if given.get("PackageType", "Zip") == "Zip" and not (given.get("Runtime") and given.get("Handler")):
        raise _wrong(
            "Runtime and Handler are mandatory parameters for functions created with deployment packages."
        )


def _check_network(request: Request) -> None:
    network, ec2 = request.parameters.get("VpcConfig") or {}, ec2_backends[ACCOUNT][request.region]
    for member, call, code, what in (
        ("SubnetIds", "Subnets", "SubnetID", "subnet ID"),
        ("SecurityGroupIds", "SecurityGroups", "Group", "security group"),
    ):
        wanted = network.get(member) or []
        known = ec2.describe_subnets if call == "Subnets" else ec2.describe_security_groups
        for absent in [one for one in wanted if one not in {each.id for each in known()}]:
            said = f"EC2 Error Code: Invalid{code}.NotFound. EC2 Error Message: The {what} '{absent}' does not exist"
            raise _wrong(f"Error occurred while Describe{call}. {said}")


@_check("CreateFunction", "UpdateFunctionCode")
def check_code(request: Request) -> None:
    """Refuse an invalid archive, an object that does not exist, and an image for a function with an archive."""
    if request.operation == "UpdateFunctionCode" and request.parameters.get("ImageUri"):
        function = _function(request)
        if function is not None and function.package_type == "Zip":
            raise _wrong("Please don't provide ImageUri when updating a function with packageType Zip.")
    code = request.parameters.get("Code") or request.parameters
    archive = code.get("ZipFile")
    if archive is not None and not _is_archive(archive):
        raise _wrong("Could not unzip uploaded file. Please check your file, then try to upload again.")
    if code.get("S3Bucket"):
        bucket = s3_backends[ACCOUNT]["aws"].buckets.get(code["S3Bucket"])
        if bucket is None:
            said = "S3 Error Code: NoSuchBucket. S3 Error Message: The specified bucket does not exist"
            raise _wrong(f"Error occurred while GetObject. {said}")
        if code.get("S3Key") not in bucket.keys:
            said = "S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist."
            raise _wrong(f"Error occurred while GetObject. {said}")


def _is_archive(archive: bytes | str) -> bool:
    content = base64.b64decode(archive) if isinstance(archive, str) else archive
    return zipfile.is_zipfile(io.BytesIO(content))


@_check("PublishVersion", "UpdateFunctionCode", "UpdateFunctionConfiguration")
def check_revision(request: Request) -> None:
    """Refuse another revision or other code than the latest: the same snapshot, and justinram11/serverless-aws-batch#22."""
    function, wanted = _function(request), request.parameters.get("RevisionId")
    if wanted and function is not None and wanted != function.revision_id:
        advice = "Call the GetFunction/GetAlias API to retrieve the latest Revision Id"
        problem = f"The Revision Id provided does not match the latest Revision Id. {advice}"
        raise ServiceError("PreconditionFailedException", problem)
    digest = request.parameters.get("CodeSha256")
    if digest and function is not None and digest != function.code_sha_256:
        problem = f"is different from current CodeSHA256 in $LATEST ({function.code_sha_256})"
        raise _wrong(f"CodeSHA256 ({digest}) {problem}. Please try again with the CodeSHA256 in $LATEST.")


@_check("PutFunctionConcurrency")
def check_put_function_concurrency(request: Request) -> None:
    """Refuse a reservation that leaves too little concurrency to other functions."""
    name = request.parameters["FunctionName"]
    limit = int(quota_value("lambda", _CONCURRENCY_QUOTA, region=request.region))
    least = (
        min(_LEAST_UNRESERVED, limit) if limit > _LEAST_UNRESERVED else _LEAST_UNRESERVED_OF_SMALL_ACCOUNTS
    )
    others = sum(
        int(one.reserved_concurrency or 0)
        for one in lambda_backends[ACCOUNT][request.region].list_functions()
        if one.function_name != name.rsplit(":", 1)[-1]
    )
    reserved = int(request.parameters["ReservedConcurrentExecutions"])
    if reserved and limit - others - reserved < least:
        raise _wrong(
            "Specified ReservedConcurrentExecutions for function decreases account's UnreservedConcurrentExecution "
            f"below its minimum value of [{least}]."
        )


@_check("AddPermission", "RemovePermission")
def check_permission(request: Request) -> None:
    """Refuse to add a statement that the policy of a function has, and to remove one that it lacks."""
    function, wanted = _function(request), request.parameters["StatementId"]
    kept = function.policy.statements if function is not None and function.policy else []
    known = wanted in {one.get("Sid") for one in kept}
    if known and request.operation == "AddPermission":
        advice = "Please provide a new statement id, or remove the existing statement."
        problem = f"The statement id ({wanted}) provided already exists. {advice}"
        raise ServiceError("ResourceConflictException", problem)
    if kept and not known and request.operation == "RemovePermission":
        problem = f"Statement {wanted} is not found in resource policy."
        raise ServiceError("ResourceNotFoundException", problem)


@_check("PutFunctionEventInvokeConfig", "UpdateFunctionEventInvokeConfig")
def check_event_invoke_config(request: Request) -> None:
    """Refuse empty settings, and a destination that does not exist or is the function itself."""
    settings = ("MaximumRetryAttempts", "MaximumEventAgeInSeconds", "DestinationConfig")
    if all(request.parameters.get(name) is None for name in settings):
        raise _wrong("You must specify at least one of error handling or destination setting.")
    function = _function(request)
    for kind in ("OnSuccess", "OnFailure"):
        arn = ((request.parameters.get("DestinationConfig") or {}).get(kind) or {}).get("Destination", "")
        service = (arn.split(":") + [""] * 3)[2]
        if service == "lambda" and function is not None and arn == function.function_arn:
            raise _wrong("You can't specify the function as a destination for itself.")
        if service == "lambda" and _named(arn.split(":")[6], request.region) is None:
            raise _wrong(f"The destination ARN {arn} is invalid.")


@_check("DeleteFunction", "GetFunction", "GetFunctionConfiguration", "Invoke", "UpdateFunctionCode")
def check_name(request: Request) -> None:
    """Refuse the ARN of another Region, and a qualifier that differs from that of the ARN."""
    parts = request.parameters["FunctionName"].split(":")
    if parts[0] != "arn":
        return
    if parts[3] != request.region:
        problem = f"Functions from '{parts[3]}' are not reachable in this region ('{request.region}')"
        raise ServiceError("ResourceNotFoundException", problem)
    qualifier = request.parameters.get("Qualifier")
    if qualifier and parts[7:] not in ([], [qualifier]):
        raise _wrong("The derived qualifier from the function name does not match the specified qualifier.")


@_check("Invoke")
def check_payload(request: Request) -> None:
    """Refuse a payload that is no JSON; an empty one is none."""
    payload = request.parameters.get("Payload") or b"null"
    try:
        json.loads(payload)
    except ValueError as error:
        problem = f"Could not parse request body into json: Could not parse payload into json: {error}"
        raise ServiceError("InvalidRequestContentException", problem) from None


@_check("TagResource")
def check_tag_resource(request: Request) -> None:
    """Refuse more tags than a function can have."""
    function = _named(request.parameters["Resource"].rsplit(":", 1)[-1], request.region)
    kept = getattr(function, "tags", None) or {}
    if len({*kept, *request.parameters["Tags"]}) > 50:  # noqa: PLR2004 - lambda/latest/dg/configuration-tags.html
        raise _wrong("Number of tags exceeds resource tag limit.")


@_check("CreateAlias", "UpdateAlias")
def check_alias(request: Request) -> None:
    """Refuse weights of the latest version, and of the version that an alias names: the same snapshot."""
    version = request.parameters.get("FunctionVersion")
    weights = (request.parameters.get("RoutingConfig") or {}).get("AdditionalVersionWeights") or {}
    if weights and version == _LATEST:
        raise _wrong(f"{_LATEST} is not supported for an alias pointing to more than 1 version")
    if [version] == [*weights]:
        rule = f"Function version {version} is already included in routing configuration."
        raise _wrong(f"Invalid function version {version}. {rule}")


@_check("CreateFunctionUrlConfig")
def check_url(request: Request) -> None:
    """Refuse a second URL: the same snapshot."""
    function = _function(request)
    if function is not None and function.url_config is not None:
        made = f"Failed to create function url config for [functionArn = {function.function_arn}]."
        problem = f"{made} Error message:  FunctionUrlConfig exists for this Lambda function"
        raise ServiceError("ResourceConflictException", problem)


def _function(request: Request) -> Any:
    name = request.parameters["FunctionName"].rsplit(":function:", 1)[-1].split(":")[0]
    return _named(name, request.region)


def _named(name: str, region: str) -> Any:
    found = [one for one in lambda_backends[ACCOUNT][region].list_functions() if one.function_name == name]
    return found[0] if found else None
