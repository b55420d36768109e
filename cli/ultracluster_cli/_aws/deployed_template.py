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


def describe_stack(stack: str, cloudformation: Any) -> Mapping[str, Any] | None:
    """Return the description of a stack by its name or ARN. None if it does not exist."""
    try:
        (described,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        if "does not exist" in str(error):
            return None
        raise
    return dict(described)


def read_deployed(stack_name: str, cloudformation: Any) -> DeployedTemplate:
    """Read a stack from CloudFormation.

    Raises:
        ClientError: If CloudFormation rejects the request.
        ValueError: If the template cannot be read.
    """
    described = describe_stack(stack_name, cloudformation)
    status = described["StackStatus"] if described else None
    if status is None or status in EMPTY_STATES:
        return DeployedTemplate(status=status, template=None)
    try:
        body = cloudformation.get_template(StackName=stack_name, TemplateStage="Original")["TemplateBody"]
    except ClientError as error:
        if "does not exist" in str(error):  # deleted between the two calls
            return DeployedTemplate(status=None, template=None)
        raise
    template = read_template(body) if isinstance(body, str) else body
    return DeployedTemplate(status=status, template=template)


def stack_resources(stack_name: str, cloudformation: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the resources of a stack that exist, as ListStackResources summarizes them."""
    for page in cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack_name):
        for resource in page["StackResourceSummaries"]:
            if resource.get("PhysicalResourceId") and resource.get("ResourceStatus") != "DELETE_COMPLETE":
                yield resource
