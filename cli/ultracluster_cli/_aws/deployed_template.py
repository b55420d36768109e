"""Read the status, the template and the resources of a stack from CloudFormation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_stacks.plan import read_template

EMPTY_STATES = frozenset({"REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE", "DELETE_COMPLETE"})
"""States of stacks without resources, which deployments create again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployedTemplate:
    """A stack in CloudFormation. The status is None if it does not exist, the template if it has no resources."""

    status: str | None
    template: Mapping[str, Any] | None


def read_deployed(stack_name: str, cloudformation: Any) -> DeployedTemplate:
    """Read a stack from CloudFormation.

    Raises:
        ClientError: If CloudFormation rejects the request.
        ValueError: If the template cannot be read.
    """
    try:
        (described,) = cloudformation.describe_stacks(StackName=stack_name)["Stacks"]
        status = described["StackStatus"]
        if status in EMPTY_STATES:
            return DeployedTemplate(status=status, template=None)
        body = cloudformation.get_template(StackName=stack_name, TemplateStage="Original")["TemplateBody"]
    except ClientError as error:
        # The stack may also be deleted between the two calls.
        if error.response["Error"]["Code"] == "ValidationError" and "does not exist" in str(error):
            return DeployedTemplate(status=None, template=None)
        raise
    return DeployedTemplate(status=status, template=read_template(body) if isinstance(body, str) else body)


def stack_resources(stack_name: str, cloudformation: Any) -> Iterator[Mapping[str, Any]]:
    """Return the resources of a stack, as ListStackResources summarizes them."""
    for page in cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack_name):
        yield from page["StackResourceSummaries"]
