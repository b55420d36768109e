"""Shared parts of CloudFormation requests: stack, template, tags, and waiting for an operation."""

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from botocore.exceptions import ClientError, ParamValidationError

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.stacks import Stack, stacks_of
from ultracluster_local.cloudformation.templates.parsing import parse
from ultracluster_local.instance.running import running
from ultracluster_local.services.handlers import Request

__all__ = [
    "ONE_AT_A_TIME",
    "object_at",
    "refuse_unsettled",
    "run_change",
    "stack_of",
    "stack_tags",
    "template_of",
]

_MOST_BYTES_IN_FILE = 1_000_000
"""Limits of templates: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html."""

ONE_AT_A_TIME = threading.RLock()
"""Serializes stack operations: moto's backends are not thread-safe, and exports need an order."""

_S3_HOST = re.compile(r"((?P<bucket>.+?)\.)?s3([.-][a-z0-9-]+)?\.amazonaws\.com|127\.0\.0\.1|localhost")
"""Hosts of S3, and of the local AWS, which serves buckets by path."""

_ANSWER_AFTER_SECONDS = 15.0
"""How long a request waits for its operation. The CLI polls every 5 s only if it is still running; SDKs time out after 60 s."""


def run_change(work: Callable[[], None]) -> None:
    """Run `work` in a separate thread, and wait for it for a limited time."""

    def locked() -> None:
        with ONE_AT_A_TIME:
            work()

    thread = threading.Thread(target=locked, name="local-cloudformation", daemon=True)
    thread.start()
    thread.join(timeout=_ANSWER_AFTER_SECONDS)


_IN_BRACKETS = (
    "DeleteChangeSet",
    "DescribeChangeSet",
    "DescribeStackEvents",
    "ExecuteChangeSet",
    "UpdateStack",
)
_ABSENT = {
    "DescribeStackResource": "Stack '{}' does not exist",
    **dict.fromkeys(_IN_BRACKETS, "Stack [{}] does not exist"),
}
"""What operations answer to a stack that is not there, as the snapshots of localstack/localstack and users of UpdateStack have it."""


def stack_of(request: Request) -> Stack:
    """Return the stack named by a request.

    Raises:
        ValidationError: If there is none.
    """
    name = request.parameters["StackName"]
    found = stacks_of(request.region).find(name)
    if found is None:
        raise ValidationError(_ABSENT.get(request.operation, "Stack with id {} does not exist").format(name))
    return found


def template_of(request: Request, *, previous: Stack | None = None) -> tuple[str, dict[str, Any]]:
    """Return the template of a request as text and parsed: from its body, from S3, or the current one."""
    url = request.parameters.get("TemplateURL")
    if url:
        text = object_at(url, request.region)
        if len(text.encode()) > _MOST_BYTES_IN_FILE:
            raise ValidationError(f"Template may not exceed {_MOST_BYTES_IN_FILE} bytes in size.")
    elif request.parameters.get("TemplateBody"):
        text = request.parameters["TemplateBody"]
    elif previous and request.parameters.get("UsePreviousTemplate"):
        text = previous.template_text
    elif request.parameters.get("UsePreviousTemplate"):  # glassechidna/stackit#38
        raise ValidationError("Cannot specify usePreviousTemplate as true for a changeSetType CREATE")
    else:
        raise ValidationError("Either Template URL or Template Body must be specified.")
    return text, parse(text)


def object_at(url: str, region: str) -> str:
    """Return the object of S3 at `url`.

    The words are those that AWS answered to localstack/localstack, test_templates.snapshot.json (2023-10-11).

    Raises:
        ValidationError: If there is none, or it is no URL of an object.
    """
    place = urlsplit(url)
    path = unquote(place.path).removeprefix("/")
    if place.scheme == "s3":
        raise ValidationError(f"S3 error: Domain name specified in {place.netloc} is not a valid S3 domain")
    found = _S3_HOST.fullmatch(place.hostname or "")
    if place.scheme not in {"http", "https"} or not found:
        raise ValidationError("TemplateURL must be a supported URL.")
    bucket, _, key = (found["bucket"], "", path) if found["bucket"] else path.partition("/")
    try:
        body = running().clients.get("s3", region).get_object(Bucket=bucket, Key=key)["Body"]
    except (ClientError, ParamValidationError) as error:
        said = (
            error.response["Error"]["Message"]
            if isinstance(error, ClientError)
            else "The specified key does not exist."
        )
        raise ValidationError(
            f"S3 error: {said}\nFor more information check http://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html"
        ) from None
    return str(body.read().decode())


def stack_tags(request: Request, previous: Mapping[str, str]) -> dict[str, str]:
    """Return the stack tags of a request; the current ones if it has none."""
    given = request.parameters.get("Tags")
    return dict(previous) if given is None else {tag["Key"]: tag["Value"] for tag in given}


def refuse_unsettled(stack: Stack) -> None:
    """Refuse an update in the current state of a stack."""
    if stack.status.endswith("_IN_PROGRESS") or stack.status in {
        "ROLLBACK_COMPLETE",
        "ROLLBACK_FAILED",
        "UPDATE_ROLLBACK_FAILED",
        "DELETE_COMPLETE",
        "DELETE_FAILED",
    }:
        raise ValidationError(f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated.")
