"""Nested stacks: resources of the type AWS::CloudFormation::Stack, each of which is a stack of its own.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-stack.html; failures are
worded as aws/aws-parallelcluster#1280 shows them.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.engine import delete_stack, deploy_stack
from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import Context, Provider
from ultracluster_local.cloudformation.stacks import STACK_TYPE, Stack, stacks_of
from ultracluster_local.cloudformation.submissions import submitted
from ultracluster_local.cloudformation.values import Properties
from ultracluster_local.services.handlers import Request, ServiceError

__all__ = ["PROVIDERS"]


class _NestedStack(Provider):
    follows_content = True

    def create(self, context: Context, properties: Properties) -> str:
        """Create the nested stack; one that fails is deleted with its parent's other resources."""
        stacks = stacks_of(context.region)
        parent = stacks.get(context.stack_id)
        name = f"{context.stack_name}-{context.logical_id}-{uuid.uuid4().hex[:12].upper()}"
        child = stacks.add(name, status="CREATE_IN_PROGRESS")
        child.parent_id, child.root_id = parent.stack_id, parent.root_id or parent.stack_id
        child.capabilities, child.disable_rollback = parent.capabilities, parent.disable_rollback
        try:
            self._deploy(child, context, properties, verb="CREATE")
        except ServiceError as error:
            del stacks.stacks[child.stack_id]
            raise ResourceError(error.message) from None
        if child.status != "CREATE_COMPLETE":
            if not parent.disable_rollback:
                delete_stack(child, clients=context.clients)
            raise ResourceError(
                f"Embedded stack {child.stack_id} was not successfully created: {_reason(child)}"
            )
        return child.stack_id

    @staticmethod
    def _deploy(child: Stack, context: Context, properties: Properties, *, verb: str) -> None:
        parameters = [
            {"ParameterKey": key, "ParameterValue": ",".join(part) if isinstance(part, list) else str(part)}
            for key, part in (properties.get("Parameters") or {}).items()
        ]
        asked = {"TemplateURL": properties["TemplateURL"], "Parameters": parameters}
        request = Request(
            operation="CreateStack",
            parameters=asked | {"Capabilities": child.capabilities},
            region=context.region,
        )
        given = submitted(request)
        tags = {tag["Key"]: tag["Value"] for tag in properties.get("Tags") or []}
        same = (given.template, given.parameters, tags) == (child.template, child.parameters, child.tags)
        if verb == "UPDATE" and same:
            return
        deploy_stack(child, given, tags=tags, verb=verb, clients=context.clients)

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG002 - the stack has them
        outputs = stacks_of(context.region).get(physical_id).outputs
        return {f"Outputs.{one['OutputKey']}": one["OutputValue"] for one in outputs}

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:  # noqa: ARG002 - as it stands
        child = stacks_of(context.region).get(physical_id)
        self._deploy(child, context, new, verb="UPDATE")
        if child.status not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
            raise ResourceError(
                f"Embedded stack {physical_id} was not successfully updated. Currently in {child.status} with reason: "
                f"{_reason(child)}"
            )
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        child = stacks_of(context.region).get(physical_id)
        if child.status != "DELETE_COMPLETE":
            delete_stack(child, clients=context.clients)
        if child.status != "DELETE_COMPLETE":
            raise ResourceError(f"Embedded stack {physical_id} was not successfully deleted: {child.reason}")


def _reason(stack: Stack) -> str:
    """Return why a stack failed, which its status no longer says once it is rolled back or deleted."""
    reasons = (
        str(one["ResourceStatusReason"]).removesuffix(" Rollback requested by user.")
        for one in reversed(stack.events)
        if one["LogicalResourceId"] == stack.name
        and ("ROLLBACK_IN_PROGRESS" in one["ResourceStatus"] or "FAILED" in one["ResourceStatus"])
    )
    return next(reasons)


PROVIDERS: Mapping[str, Provider] = {STACK_TYPE: _NestedStack()}
