"""What the calls of CloudFormation have in common: their stack, their template, and when work is done."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.stacks import Stack, stacks_of
from ultracluster_local.cloudformation.template import parse
from ultracluster_local.instance.running import running
from ultracluster_local.services.handlers import Request

__all__ = ["ONE_AT_A_TIME", "refuse_unsettled", "run_change", "stack_of", "stack_tags", "template_of"]

ONE_AT_A_TIME = threading.RLock()
"""Stacks change one after another: moto's backends are not made for more, and exports need an order."""

_ANSWER_AFTER_SECONDS = 15.0
"""A change that ends sooner answers as done, which saves the CLI's 5 s between polls; SDKs give up after 60 s."""


def run_change(work: Callable[[], None]) -> None:
    """Do `work` on its own thread, and wait for a while only."""

    def locked() -> None:
        with ONE_AT_A_TIME:
            work()

    thread = threading.Thread(target=locked, name="local-cloudformation", daemon=True)
    thread.start()
    thread.join(timeout=_ANSWER_AFTER_SECONDS)


def stack_of(request: Request) -> Stack:
    """Return the stack that a call names.

    Raises:
        ValidationError: If there is none.
    """
    return stacks_of(request.region).get(request.parameters["StackName"])


def template_of(request: Request, *, previous: Stack | None = None) -> tuple[str, dict[str, Any]]:
    """Return the template of a call, as text and parsed, from its body, from S3 or the stack's own."""
    url = request.parameters.get("TemplateURL")
    if url:
        bucket, _, key = url.split("://", 1)[-1].split("/", 1)[-1].partition("/")
        answer = running().clients.get("s3", request.region).get_object(Bucket=bucket, Key=key.split("?")[0])
        text = answer["Body"].read().decode()
    elif request.parameters.get("TemplateBody"):
        text = request.parameters["TemplateBody"]
    elif previous and request.parameters.get("UsePreviousTemplate"):
        text = previous.template_text
    else:
        raise ValidationError("Either Template URL or Template Body must be specified.")
    return text, parse(text)


def stack_tags(request: Request, previous: Mapping[str, str]) -> dict[str, str]:
    """Return the tags that a call gives to its stack; those it has if the call says nothing."""
    given = request.parameters.get("Tags")
    return dict(previous) if given is None else {tag["Key"]: tag["Value"] for tag in given}


def refuse_unsettled(stack: Stack) -> None:
    """Refuse what cannot be updated now."""
    if stack.status.endswith("_IN_PROGRESS") or stack.status in {
        "ROLLBACK_COMPLETE",
        "ROLLBACK_FAILED",
        "UPDATE_ROLLBACK_FAILED",
        "DELETE_FAILED",
    }:
        raise ValidationError(f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated.")
