"""Custom resources, whose functions run as local processes and respond as they respond to CloudFormation.

The CDK's handler that empties buckets and its Provider framework are implemented
here, because they need what the local AWS does not run (the SDK for Node.js, Step Functions). Every other
function is invoked with a local ``ResponseURL`` and responds there.
"""

import http.server
import json
import re
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import Context, Provider
from ultracluster_local.cloudformation.values import Properties
from ultracluster_local.instance.state import region_state

__all__ = ["CustomResource", "is_custom"]

_ANSWER_SECONDS = 5
"""How long after the end of the function its response may arrive, over a local connection."""

_COMPLETION_SECONDS = 120
"""How long the Provider framework polls for completion; in AWS, up to two hours."""


def is_custom(resource_type: str) -> bool:
    """Return whether a type is a custom resource."""
    return resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource"


class CustomResource(Provider):
    """Provider of all custom resources."""

    def create(self, context: Context, properties: Properties) -> str:
        """Send the Create event."""
        return _send(context, "Create", properties)

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG002 - what was answered is all
        """Return the data of the last response."""
        return _answers(context).get(physical_id, {})

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Send the Update event; the old resource is deleted if the physical ID changes."""
        return _send(context, "Update", new, physical_id=physical_id, old=old)

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Send the Delete event."""
        _send(context, "Delete", properties, physical_id=physical_id)

    def create_only(self, resource_type: str, old: Properties, new: Properties) -> frozenset[tuple[str, ...]]:  # noqa: ARG002 - the same for all
        """Return the service token: another function means a replacement."""
        return frozenset({("ServiceToken",)})

    def conditional_create_only(self, resource_type: str) -> frozenset[tuple[str, ...]]:  # noqa: ARG002 - likewise
        """Return nothing: the function requests a replacement by a new physical ID."""
        return frozenset()


def _answers(context: Context) -> dict[str, Mapping[str, Any]]:
    return region_state(
        f"custom-resources:{context.stack_id}:{context.logical_id}", region=context.region, new=dict
    )


def _send(
    context: Context,
    kind: str,
    properties: Properties,
    *,
    physical_id: str = "",
    old: Properties | None = None,
) -> str:
    event: dict[str, Any] = {
        "RequestType": kind,
        "ServiceToken": properties["ServiceToken"],
        "StackId": context.stack_id,
        "RequestId": str(uuid.uuid4()),
        "LogicalResourceId": context.logical_id,
        "ResourceType": context.resource_type,
        "ResourceProperties": _texts(properties),
    }
    if kind != "Create":
        event["PhysicalResourceId"] = physical_id
    if old is not None:
        event["OldResourceProperties"] = _texts(old)
    answer = _answer(context, event, properties)
    made = str(answer.get("PhysicalResourceId") or physical_id or event["RequestId"])
    _answers(context)[made] = answer.get("Data") or {}
    return made


def _answer(context: Context, event: dict[str, Any], properties: Properties) -> Mapping[str, Any]:
    if context.resource_type == "Custom::S3AutoDeleteObjects":
        return _empty_bucket(context, event, properties)
    function = properties["ServiceToken"]
    try:
        configuration = context.call("lambda", "GetFunctionConfiguration", {"FunctionName": function})
    except ClientError as error:
        raise ResourceError(f"The function of this custom resource cannot be called: {error}") from None
    variables = (configuration.get("Environment") or {}).get("Variables") or {}
    if "USER_ON_EVENT_FUNCTION_ARN" in variables:
        return _provider_framework(context, event, variables)
    return _by_response_url(context, event, function)


def _empty_bucket(context: Context, event: Mapping[str, Any], properties: Properties) -> Mapping[str, Any]:
    if event["RequestType"] == "Delete":
        bucket = {"Bucket": properties["BucketName"]}
        try:
            versions = context.call("s3", "ListObjectVersions", bucket)
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchBucket":
                return {}
            raise
        for one in [*versions.get("Versions", []), *versions.get("DeleteMarkers", [])]:
            context.call("s3", "DeleteObject", {**bucket, "Key": one["Key"], "VersionId": one["VersionId"]})
        if versions.get("IsTruncated"):
            return _empty_bucket(context, event, properties)
    return {}


def _provider_framework(
    context: Context, event: dict[str, Any], variables: Mapping[str, str]
) -> Mapping[str, Any]:
    answered = _invoke(context, variables["USER_ON_EVENT_FUNCTION_ARN"], event) or {}
    data = dict(answered.get("Data") or {})
    is_complete = variables.get("USER_IS_COMPLETE_FUNCTION_ARN")
    deadline = time.monotonic() + _COMPLETION_SECONDS
    while is_complete:
        said = _invoke(context, is_complete, {**event, **answered}) or {}
        if said.get("IsComplete"):
            data |= said.get("Data") or {}
            break
        if time.monotonic() > deadline:
            raise ResourceError(f"The resource was not complete after {_COMPLETION_SECONDS} s")
        time.sleep(0.1)
    return {**answered, "Data": data}


def _invoke(context: Context, function: str, event: Mapping[str, Any]) -> Any:
    answer = context.call("lambda", "Invoke", {"FunctionName": function, "Payload": json.dumps(event)})
    payload = json.loads(answer["Payload"].read() or b"null")
    if "FunctionError" in answer:
        raise _failed("FAILED", str(payload.get("errorMessage") if isinstance(payload, dict) else payload))
    return payload


def _failed(status: str, said: str) -> ResourceError:
    if absent := re.search(r"(?:Cannot find module '|Package )(@aws-sdk/[\w-]+)", said):
        problem = f"The local AWS does not simulate custom resources that need {absent[1]}, which Lambda's Node.js has"
        return ResourceError(problem)
    return ResourceError(
        f"Received response status [{status}] from custom resource. Message returned: {said}"
    )


def _by_response_url(context: Context, event: dict[str, Any], function: str) -> Mapping[str, Any]:
    with _listener() as (url, answers, arrived):
        failure: ResourceError | None = None
        try:
            _invoke(context, function, {**event, "ResponseURL": url})
        except ResourceError as error:  # a handler may respond and then fail
            failure = error
        if not arrived.wait(0 if failure else _ANSWER_SECONDS):
            raise failure or ResourceError(
                "CloudFormation did not receive a response from your Custom Resource: its function ended without one"
            )
    answer: Mapping[str, Any] = answers[0]
    if answer.get("Status") != "SUCCESS":
        raise _failed(str(answer.get("Status")), str(answer.get("Reason")))
    return answer


@contextmanager
def _listener() -> Iterator[tuple[str, list[Mapping[str, Any]], threading.Event]]:
    """Listen for one response on a free local port."""
    answers: list[Mapping[str, Any]] = []
    arrived = threading.Event()
    path = f"/{uuid.uuid4()}"  # a path that only the function knows

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path != path:
                self.send_error(403)
                return
            self.send_response(200)
            self.end_headers()
            answers.append(json.loads(body))
            arrived.set()

        def log_message(self, *_: Any) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{path}", answers, arrived
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _texts(value: Any) -> Any:
    """Convert numbers and booleans to strings, as CloudFormation does."""
    if isinstance(value, dict):
        return {key: _texts(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_texts(part) for part in value]
    if isinstance(value, bool):
        return str(value).lower()
    return value if value is None else str(value)
