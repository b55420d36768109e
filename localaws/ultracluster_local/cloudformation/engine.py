"""The engine: deploy a stack, roll back a failed deployment, delete a stack."""

import logging
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.deployment import Deployment
from ultracluster_local.cloudformation.removal import EXPECTED, deletion_order, failure_reason, remove
from ultracluster_local.cloudformation.resource_types import provider_of
from ultracluster_local.cloudformation.resource_types.recorded import Recorded
from ultracluster_local.cloudformation.stacks import Stack, StackResource, Stacks, Submission, stacks_of
from ultracluster_local.cloudformation.templates.parsing import references
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.clock import CLOCK

__all__ = ["delete_stack", "deploy_stack"]

_LOG = logging.getLogger(__name__)


def deploy_stack(
    stack: Stack, submission: Submission, *, tags: dict[str, str], verb: str, clients: Clients
) -> None:
    """Deploy a template to `stack` completely, or roll back.

    Args:
        stack: Stack, which is modified.
        submission: Template with its parameters.
        tags: Stack tags.
        verb: ``CREATE`` or ``UPDATE``.
        clients: Clients of the local AWS.
    """
    if (
        verb == "CREATE"
    ):  # DescribeStacks shows the tags of a stack that is being created, and of one that failed
        stack.tags = tags
    stack.enter(f"{verb}_IN_PROGRESS", reason="User Initiated")
    before, template = dict(stack.resources), submission.template
    run: Deployment | None = None
    try:
        run = Deployment(stack=stack, template=template, parameters=submission.parameters, clients=clients)
        run.apply()
        stack.outputs, stack.exports = run.outputs()
    except Exception as error:  # noqa: BLE001 - whatever fails, the stack must be rolled back
        if not isinstance(error, EXPECTED):
            _LOG.exception("our engine failed at %s", run.current if run else stack.name)
        _fail(stack, run, error, verb=verb, template=template, before=before)
        return
    if verb == "UPDATE":
        stack.enter("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
    run.clean_up()
    stack.imports = frozenset(run.imports)
    stack.template, stack.template_text = template, submission.text
    stack.description = template.get("Description")
    stack.parameters, stack.tags = submission.parameters, tags
    stack.updated = CLOCK.now() if verb == "UPDATE" or stack.change_set_id else None
    stack.enter(f"{verb}_COMPLETE")


def _fail(
    stack: Stack,
    run: Deployment | None,
    error: Exception,
    *,
    verb: str,
    template: Mapping[str, Any],
    before: Mapping[str, StackResource],
) -> None:
    current = run.current if run else ""
    if run and current:
        kind = (
            template["Resources"][current]["Type"]
            if current in template["Resources"]
            else before[current].resource_type
        )
        physical_id = before[current].physical_id if current in before else ""
        said = failure_reason(error) + _on_recorded(current, template)
        stack.record(current, kind, f"{run.current_verb}_FAILED", physical_id=physical_id, reason=said)
    reason = (
        f"The following resource(s) failed to {verb.lower()}: [{current}]."
        if current
        else failure_reason(error)
    )
    if stack.disable_rollback:
        stack.enter(f"{verb}_FAILED", reason=reason)
        return
    word = "ROLLBACK" if verb == "CREATE" else "UPDATE_ROLLBACK"
    stack.enter(f"{word}_IN_PROGRESS", reason=f"{reason} Rollback requested by user.")
    failed = run.roll_back() if run else ""
    if verb == "UPDATE" and not failed:
        stack.enter("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
    stack.enter(f"{word}_FAILED" if failed else f"{word}_COMPLETE", reason=failed or reason)


def _on_recorded(logical_id: str, template: Mapping[str, Any]) -> str:
    """Say which resources a failed one refers to that are only recorded: their IDs are made up."""
    resources = template["Resources"]
    named = {*references(resources.get(logical_id, {}).get("Properties") or {})} & {*resources}
    recorded = sorted(one for one in named if isinstance(provider_of(resources[one]["Type"]), Recorded))
    return f" It refers to {', '.join(recorded)}, which the local AWS only records." if recorded else ""


def delete_stack(stack: Stack, *, clients: Clients, retain: frozenset[str] = frozenset()) -> None:
    """Delete a stack and, except for retained ones, its resources.

    Args:
        stack: Stack, which is modified.
        clients: Clients of the local AWS.
        retain: Logical IDs of resources to retain. Default: none.
    """
    stacks: Stacks = stacks_of(stack.region)
    stack.enter("DELETE_IN_PROGRESS", reason="User Initiated")
    used = [(name, stacks.importers(name)) for name in stack.exports]
    for name, users in used:
        if users:
            reason = f"Delete canceled. Cannot delete export {name} as it is in use by {', '.join(users)}."
            stack.enter("DELETE_FAILED", reason=reason)
            return
    failed = []
    for resource in deletion_order(list(stack.resources.values())):
        if resource.retained("DeletionPolicy") or resource.logical_id in retain:
            stack.record(
                resource.logical_id,
                resource.resource_type,
                "DELETE_SKIPPED",
                physical_id=resource.physical_id,
            )
        else:
            try:
                remove(stack, resource, clients=clients)
            except EXPECTED:
                failed.append(resource.logical_id)
                continue
        del stack.resources[resource.logical_id]
    if failed:
        stack.enter(
            "DELETE_FAILED", reason=f"The following resource(s) failed to delete: [{', '.join(failed)}]."
        )
        return
    stack.exports, stack.imports, stack.outputs = {}, frozenset(), []
    stack.deleted = CLOCK.now()
    stack.enter("DELETE_COMPLETE")
