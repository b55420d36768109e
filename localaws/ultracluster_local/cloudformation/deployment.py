"""One deployment of one stack: create, update and replace its resources in order, and roll back."""

import dataclasses
import functools
import logging
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from ultracluster_local.cloudformation.custom_resources import is_custom
from ultracluster_local.cloudformation.errors import ResourceError, ValidationError
from ultracluster_local.cloudformation.providers import Context
from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.removal import (
    EXPECTED,
    context_of,
    deletion_order,
    failure_reason,
    remove,
)
from ultracluster_local.cloudformation.resource_types import PROVIDERS, provider_of
from ultracluster_local.cloudformation.resource_types.recorded import RECORDED_ONLY, Recorded
from ultracluster_local.cloudformation.stacks import Stack, StackResource, stacks_of
from ultracluster_local.cloudformation.templates.intrinsic_functions import resolve
from ultracluster_local.cloudformation.templates.parsing import creation_order
from ultracluster_local.cloudformation.templates.validation import refuse_invalid, stack_scope
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.clock import CLOCK

__all__ = ["Deployment", "replaces"]

_LOG = logging.getLogger(__name__)


def replaces(resource_type: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether changing `old` properties to `new` requires replacement."""
    paths = provider_of(resource_type).create_only(resource_type, old, new)
    return any(_at(old, path) != _at(new, path) for path in paths)


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for index, part in enumerate(path):
        if part == "*":
            rest = path[index + 1 :]
            parts = value.values() if isinstance(value, dict) else value or []
            return [_at(one, rest) for one in parts]
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def _attributes(
    context: Context, physical_id: str, properties: Mapping[str, Any]
) -> Callable[[], Mapping[str, Any]]:
    """Attributes for ``Fn::GetAtt``, read lazily and once: most resources are never asked for any."""
    provider = provider_of(context.resource_type)
    return functools.cache(lambda: provider.attributes(context, physical_id, properties))


class Deployment:
    """One deployment of a stack: `apply`, `outputs` and `clean_up` in this order, or `roll_back`.

    Args:
        stack: Stack whose resources are changed.
        template: New template.
        parameters: Parameter values as strings.
        clients: Clients of the local AWS.

    Attributes:
        current: Logical ID of the resource in progress; empty if none.
        current_verb: ``CREATE`` or ``UPDATE``.
        imports: Names of imported exports.
    """

    def __init__(
        self, *, stack: Stack, template: Mapping[str, Any], parameters: Mapping[str, str], clients: Clients
    ) -> None:
        self.stack = stack
        self.template = template
        self.clients = clients
        self.current = ""
        self.current_verb = "CREATE"
        self.imports: set[str] = set()
        self.undo: list[Callable[[], None]] = []
        self.leftovers: list[tuple[StackResource, str]] = []
        self.scope = stack_scope(
            stack,
            template,
            parameters,
            clients=clients,
            imports=self.imports,
            ref=self._ref,
            attribute=self._attribute,
        )

    def _ref(self, name: str) -> str:
        if name not in self.stack.resources:
            raise ValidationError(f"Template error: {name} is referenced but not created")
        return self.stack.resources[name].physical_id

    def _attribute(self, name: str, attribute: str) -> Any:
        resource = self.stack.resources.get(name)
        if resource is None:
            raise ValidationError(f"Template error: {name} is referenced but not created")
        attributes = resource.attributes()
        if attribute in attributes:
            return attributes[attribute]
        raise ValidationError(
            f"Resource type {resource.resource_type} does not support attribute {{{attribute}}}"
        )

    def _context(self, logical_id: str, resource_type: str, attempt: str = "") -> Context:
        return context_of(self.stack, logical_id, resource_type, clients=self.clients, attempt=attempt)

    def apply(self) -> None:
        """Create or update every resource of the template."""
        wanted = self._wanted()
        for removed in [one for name, one in self.stack.resources.items() if name not in wanted]:
            self.current, self.current_verb = removed.logical_id, "DELETE"
        for logical_id in creation_order(self.template):
            definition = self.template["Resources"][logical_id]
            if "Condition" in definition and not self.scope.condition(definition["Condition"]):
                continue
            self.current, self.current_verb = logical_id, "CREATE"
            properties = resolve(definition.get("Properties") or {}, self.scope)
            old = self.stack.resources.get(logical_id)
            if definition["Type"] in PROVIDERS and (old is None or old.properties != properties):
                refuse_invalid(logical_id, definition["Type"], properties)
            if old is None:
                self._create(logical_id, definition, properties)
            elif old.resource_type != definition["Type"]:
                raise ValidationError(
                    f"Update of resource type is not permitted. The new template modifies resource type of {logical_id}"
                )
            elif old.properties == properties and not provider_of(old.resource_type).follows_content:
                self.stack.resources[logical_id] = dataclasses.replace(old, definition=definition)
            else:
                self.current_verb = "UPDATE"
                self._update(old, definition, properties)
        self.current = ""

    def _create(self, logical_id: str, definition: Mapping[str, Any], properties: Mapping[str, Any]) -> None:
        kind = definition["Type"]
        self.stack.record(logical_id, kind, "CREATE_IN_PROGRESS")
        attempt = uuid.uuid4().hex
        context = self._context(logical_id, kind, attempt)
        physical_id = provider_of(kind).create(context, properties)
        self.stack.record(
            logical_id,
            kind,
            "CREATE_IN_PROGRESS",
            physical_id=physical_id,
            reason="Resource creation Initiated",
        )
        made = self._made(
            context, physical_id, definition=definition, properties=properties, status="CREATE_COMPLETE"
        )
        previous = self.stack.resources.get(logical_id)
        self.stack.resources[logical_id] = made
        self.undo.append(lambda: self._undo_create(made, previous))
        reason = RECORDED_ONLY if isinstance(provider_of(kind), Recorded) else ""
        self.stack.record(logical_id, kind, "CREATE_COMPLETE", physical_id=physical_id, reason=reason)

    def _made(
        self,
        context: Context,
        physical_id: str,
        *,
        definition: Mapping[str, Any],
        properties: Mapping[str, Any],
        status: str,
    ) -> StackResource:
        return StackResource(
            logical_id=context.logical_id,
            resource_type=context.resource_type,
            physical_id=physical_id,
            properties=properties,
            attributes=_attributes(context, physical_id, properties),
            definition=definition,
            status=status,
            changed=CLOCK.now(),
            attempt=context.attempt,
        )

    def _undo_create(self, made: StackResource, previous: StackResource | None) -> None:
        remove(self.stack, made, clients=self.clients)
        if previous is None:
            del self.stack.resources[made.logical_id]
        else:
            self.stack.resources[made.logical_id] = previous

    def _update(
        self, old: StackResource, definition: Mapping[str, Any], properties: Mapping[str, Any]
    ) -> None:
        kind, logical_id = old.resource_type, old.logical_id
        self.stack.record(logical_id, kind, "UPDATE_IN_PROGRESS", physical_id=old.physical_id)
        provider_of(kind).refuse_update(definition, properties)
        replacing = replaces(kind, old.properties, properties)
        if replacing:
            self._refuse_same_name(old, properties)
            self.stack.record(
                logical_id,
                kind,
                "UPDATE_IN_PROGRESS",
                physical_id=old.physical_id,
                reason="Requested update requires the creation of a new physical resource; hence creating one.",
            )
            context = self._context(logical_id, kind, uuid.uuid4().hex)
            physical_id = provider_of(kind).create(context, properties)
        else:
            context = self._context(logical_id, kind, old.attempt)
            physical_id = provider_of(kind).update(context, old.physical_id, old.properties, properties)
        replaced = physical_id != old.physical_id
        if replaced:
            made = self._made(
                context, physical_id, definition=definition, properties=properties, status="UPDATE_COMPLETE"
            )
            self.leftovers.append((old, "UpdateReplacePolicy"))
            self.undo.append(lambda: self._undo_create(made, old))
        else:
            self.undo.append(lambda: self._undo_update(old, properties))
            made = dataclasses.replace(
                old,
                properties=properties,
                attributes=_attributes(context, physical_id, properties),
                definition=definition,
                status="UPDATE_COMPLETE",
                changed=CLOCK.now(),
            )
        self.stack.resources[logical_id] = made
        self.stack.record(logical_id, kind, "UPDATE_COMPLETE", physical_id=physical_id)

    def _refuse_same_name(self, old: StackResource, properties: Mapping[str, Any]) -> None:
        identifiers = (
            [] if is_custom(old.resource_type) else schemas.schema(old.resource_type)["primaryIdentifier"]
        )
        for path in identifiers:
            name = path.removeprefix("/properties/")
            if name in properties and properties[name] == old.properties.get(name) and len(identifiers) == 1:
                raise ResourceError(
                    "CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename "
                    f"{properties[name]} and update the stack again."
                )

    def _undo_update(self, old: StackResource, properties: Mapping[str, Any]) -> None:
        kind, logical_id = old.resource_type, old.logical_id
        self.stack.record(logical_id, kind, "UPDATE_IN_PROGRESS", physical_id=old.physical_id)
        context = self._context(logical_id, kind, old.attempt)
        provider_of(kind).update(context, old.physical_id, properties, old.properties)
        attributes = _attributes(context, old.physical_id, old.properties)
        self.stack.resources[logical_id] = dataclasses.replace(old, attributes=attributes)
        self.stack.record(logical_id, kind, "UPDATE_COMPLETE", physical_id=old.physical_id)

    def outputs(self) -> tuple[list[dict[str, str]], dict[str, str]]:
        """Return the outputs and exports of the template; refuse changes to exports in use."""
        outputs, exports = [], {}
        for key, output in (self.template.get("Outputs") or {}).items():
            if "Condition" in output and not self.scope.condition(output["Condition"]):
                continue
            value = resolve(output["Value"], self.scope)
            if isinstance(value, (list, dict)):
                raise ValidationError(
                    "Template format error: The Value field of every Outputs member must evaluate to a String."
                )
            value = str(value)
            shown = {"OutputKey": key, "OutputValue": value}
            if "Description" in output:
                shown["Description"] = output["Description"]
            if "Export" in output:
                shown["ExportName"] = str(resolve(output["Export"]["Name"], self.scope))
                exports[shown["ExportName"]] = value
            outputs.append(shown)
        stacks = stacks_of(self.stack.region)
        for name, (owner, _) in stacks.exports().items():
            if name in exports and owner is not self.stack:
                raise ValidationError(f"Export with name {name} is already exported by stack {owner.name}.")
        for name, value in self.stack.exports.items():
            users = stacks.importers(name)
            if users and exports.get(name) != value:
                verb = "updated" if name in exports else "deleted"
                raise ValidationError(f"Export {name} cannot be {verb} as it is in use by {', '.join(users)}")
        return outputs, exports

    def _wanted(self) -> set[str]:
        return {
            name
            for name, one in self.template["Resources"].items()
            if "Condition" not in one or self.scope.condition(one["Condition"])
        }

    def clean_up(self) -> None:
        """Delete replaced and removed resources; failures do not fail the deployment."""
        wanted = self._wanted()
        removed = [one for name, one in self.stack.resources.items() if name not in wanted]
        order = deletion_order(removed)
        for resource, policy in [*self.leftovers[::-1], *((one, "DeletionPolicy") for one in order)]:
            if resource.retained(policy):
                status = "DELETE_SKIPPED"
                self.stack.record(
                    resource.logical_id, resource.resource_type, status, physical_id=resource.physical_id
                )
            else:
                try:
                    remove(self.stack, resource, clients=self.clients)
                except EXPECTED as error:
                    _LOG.warning("%s of %s is left behind: %s", resource.physical_id, self.stack.name, error)
            if policy == "DeletionPolicy":
                del self.stack.resources[resource.logical_id]

    def roll_back(self) -> str:
        """Roll back in reverse order; return what could not be rolled back."""
        failed = []
        for undo in reversed(self.undo):
            try:
                undo()
            except EXPECTED as error:
                failed.append(failure_reason(error))
        return "; ".join(failed)
