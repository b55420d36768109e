"""The engine: creates, updates, replaces, rolls back and deletes the resources of a stack, in order, with events."""

import dataclasses
import logging
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_local.clients import Clients
from ultracluster_local.clock import CLOCK
from ultracluster_local.cloudformation import schemas
from ultracluster_local.cloudformation.custom_resources import is_custom
from ultracluster_local.cloudformation.errors import ResourceError, ValidationError
from ultracluster_local.cloudformation.parameters import ssm_parameter, typed_parameters
from ultracluster_local.cloudformation.providers import Context
from ultracluster_local.cloudformation.resource_types import provider_of, unsupported_types
from ultracluster_local.cloudformation.stacks import Stack, StackResource, Stacks, stacks_of
from ultracluster_local.cloudformation.template import Scope, creation_order, references, resolve
from ultracluster_local.environment import ACCOUNT

__all__ = ["delete_stack", "deploy_stack", "replaces", "resource_context", "stack_scope", "validate_template"]

_LOG = logging.getLogger(__name__)
_EXPECTED = (ClientError, BotoCoreError, ResourceError, ValidationError)


def validate_template(template: Mapping[str, Any]) -> None:
    """Refuse what could not be deployed, before anything is done.

    Raises:
        ValidationError: If a type has no provider, a property is unknown to its type, or references lead nowhere.
    """
    unsupported = unsupported_types(template)
    if unsupported:
        raise ValidationError(
            f"Template format error: Unrecognized resource types: [{', '.join(unsupported)}]"
        )
    creation_order(template)
    said = []
    for name, resource in template["Resources"].items():
        if is_custom(resource["Type"]):
            continue
        found = schemas.problems(resource["Type"], resource.get("Properties") or {})
        if found:
            said.append(
                f"Properties validation failed for resource {name} with message:\n" + "\n".join(found)
            )
    if said:
        raise ValidationError("\n".join(said))
    known = set(template["Resources"]) | set(template.get("Parameters") or {})
    for name, output in (template.get("Outputs") or {}).items():
        missing = sorted(
            {one for one in references(output) if one not in known and not one.startswith("AWS::")}
        )
        if missing:
            raise ValidationError(
                f"Template format error: Unresolved resource dependencies [{', '.join(missing)}] in the Outputs block of"
                f" the template ({name})"
            )


def stack_scope(
    stack: Stack,
    template: Mapping[str, Any],
    parameters: Mapping[str, str],
    *,
    clients: Clients,
    imports: set[str],
    ref: Callable[[str], Any],
    attribute: Callable[[str, str], Any],
) -> Scope:
    """Build the scope of a template of `stack`; names of exports that are used are added to `imports`."""

    def imported(name: str) -> str:
        exports = stacks_of(stack.region).exports()
        if name not in exports:
            raise ValidationError(f"No export named {name} found.")
        imports.add(name)
        return exports[name][1]

    def dynamic(service: str, key: str) -> str:
        if service not in {"ssm", "ssm-secure"}:
            raise ValidationError(f"The local AWS resolves ssm only; got {{{{resolve:{service}:{key}}}}}")
        return ssm_parameter(key, clients=clients, region=stack.region)

    return Scope(
        region=stack.region,
        pseudo={
            "AWS::AccountId": ACCOUNT,
            "AWS::Region": stack.region,
            "AWS::StackId": stack.stack_id,
            "AWS::StackName": stack.name,
            "AWS::Partition": "aws",
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::NotificationARNs": stack.notification_arns,
        },
        parameters=typed_parameters(template, parameters, clients=clients, region=stack.region),
        mappings=template.get("Mappings") or {},
        conditions=template.get("Conditions") or {},
        ref=ref,
        attribute=attribute,
        imported=imported,
        dynamic=dynamic,
    )


def replaces(resource_type: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether going from `old` to `new` properties needs a new resource."""
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


class _Deployment:
    """One run of the engine over one stack."""

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
            raise ValidationError(f"Template error: {name} is referred to, and not created")
        return self.stack.resources[name].physical_id

    def _attribute(self, name: str, attribute: str) -> Any:
        resource = self.stack.resources.get(name)
        if resource is None:
            raise ValidationError(f"Template error: {name} is referred to, and not created")
        if attribute in resource.attributes:
            return resource.attributes[attribute]
        raise ValidationError(
            f"Requested attribute {attribute} does not exist in schema for {resource.resource_type}"
        )

    def context(self, logical_id: str, resource_type: str, attempt: str = "") -> Context:
        return _context(self.stack, logical_id, resource_type, clients=self.clients, attempt=attempt)

    def apply(self) -> None:
        """Bring every resource of the template to its new state."""
        for logical_id in creation_order(self.template):
            definition = self.template["Resources"][logical_id]
            if "Condition" in definition and not self.scope.condition(definition["Condition"]):
                continue
            self.current, self.current_verb = logical_id, "CREATE"
            properties = resolve(definition.get("Properties") or {}, self.scope)
            old = self.stack.resources.get(logical_id)
            if old is None:
                self._create(logical_id, definition, properties)
            elif old.resource_type != definition["Type"]:
                raise ValidationError(
                    f"Update of resource type is not permitted. The new template modifies resource type of {logical_id}"
                )
            elif old.properties == properties:
                self.stack.resources[logical_id] = dataclasses.replace(old, definition=definition)
            else:
                self.current_verb = "UPDATE"
                self._update(old, definition, properties)
        self.current = ""

    def _create(self, logical_id: str, definition: Mapping[str, Any], properties: Mapping[str, Any]) -> None:
        kind = definition["Type"]
        self.stack.record(logical_id, kind, "CREATE_IN_PROGRESS")
        attempt = uuid.uuid4().hex
        context = self.context(logical_id, kind, attempt)
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
        self.stack.record(logical_id, kind, "CREATE_COMPLETE", physical_id=physical_id)

    def _made(
        self,
        context: Context,
        physical_id: str,
        *,
        definition: Mapping[str, Any],
        properties: Mapping[str, Any],
        status: str,
    ) -> StackResource:
        provider = provider_of(context.resource_type)
        try:
            attributes = provider.attributes(context, physical_id, properties)
        except _EXPECTED:
            # The resource is there: without this it would be left behind.
            provider.delete(context, physical_id, properties)
            raise
        return StackResource(
            logical_id=context.logical_id,
            resource_type=context.resource_type,
            physical_id=physical_id,
            properties=properties,
            attributes=attributes,
            definition=definition,
            status=status,
            changed=CLOCK.now(),
            attempt=context.attempt,
        )

    def _undo_create(self, made: StackResource, previous: StackResource | None) -> None:
        _remove(self.stack, made, clients=self.clients)
        if previous is None:
            del self.stack.resources[made.logical_id]
        else:
            self.stack.resources[made.logical_id] = previous

    def _update(
        self, old: StackResource, definition: Mapping[str, Any], properties: Mapping[str, Any]
    ) -> None:
        kind, logical_id = old.resource_type, old.logical_id
        self.stack.record(logical_id, kind, "UPDATE_IN_PROGRESS", physical_id=old.physical_id)
        if replaces(kind, old.properties, properties):
            self._refuse_same_name(old, properties)
            self.stack.record(
                logical_id,
                kind,
                "UPDATE_IN_PROGRESS",
                physical_id=old.physical_id,
                reason="Requested update requires the creation of a new physical resource; hence creating one.",
            )
            context = self.context(logical_id, kind, uuid.uuid4().hex)
            physical_id = provider_of(kind).create(context, properties)
        else:
            context = self.context(logical_id, kind, old.attempt)
            physical_id = provider_of(kind).update(context, old.physical_id, old.properties, properties)
        replaced = physical_id != old.physical_id
        if replaced:
            made = self._made(
                context, physical_id, definition=definition, properties=properties, status="UPDATE_COMPLETE"
            )
            self.leftovers.append((old, "UpdateReplacePolicy"))
            self.undo.append(lambda: self._undo_create(made, old))
        else:
            # On record before its attributes are read: a failure from here on must be undone too.
            self.undo.append(lambda: self._undo_update(old, properties))
            attributes = provider_of(kind).attributes(context, physical_id, properties)
            made = dataclasses.replace(
                old,
                properties=properties,
                attributes=attributes,
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
        context = self.context(logical_id, kind, old.attempt)
        provider = provider_of(kind)
        provider.update(context, old.physical_id, properties, old.properties)
        attributes = provider.attributes(context, old.physical_id, old.properties)
        self.stack.resources[logical_id] = dataclasses.replace(old, attributes=attributes)
        self.stack.record(logical_id, kind, "UPDATE_COMPLETE", physical_id=old.physical_id)

    def outputs(self) -> tuple[list[dict[str, str]], dict[str, str]]:
        """Return the outputs and exports of the template, and refuse changes to exports that are in use."""
        outputs, exports = [], {}
        for key, output in (self.template.get("Outputs") or {}).items():
            if "Condition" in output and not self.scope.condition(output["Condition"]):
                continue
            value = str(resolve(output["Value"], self.scope))
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

    def clean_up(self) -> None:
        """Delete what was replaced and what the template no longer has; a failure here fails nothing."""
        wanted = {
            name
            for name, one in self.template["Resources"].items()
            if "Condition" not in one or self.scope.condition(one["Condition"])
        }
        removed = [one for name, one in self.stack.resources.items() if name not in wanted]
        order = _deletion_order(removed)
        for resource, policy in [*self.leftovers[::-1], *((one, "DeletionPolicy") for one in order)]:
            if resource.retained(policy):
                status = "DELETE_SKIPPED"
                self.stack.record(
                    resource.logical_id, resource.resource_type, status, physical_id=resource.physical_id
                )
            else:
                try:
                    _remove(self.stack, resource, clients=self.clients)
                except _EXPECTED as error:
                    _LOG.warning("%s of %s is left behind: %s", resource.physical_id, self.stack.name, error)
            if policy == "DeletionPolicy":
                del self.stack.resources[resource.logical_id]

    def roll_back(self) -> str:
        """Undo everything in reverse; return what could not be undone."""
        failed = []
        for undo in reversed(self.undo):
            try:
                undo()
            except _EXPECTED as error:
                failed.append(_said(error))
        return "; ".join(failed)


def resource_context(stack: Stack, resource: StackResource, *, clients: Clients) -> Context:
    """Return the context in which the provider of a deployed resource works."""
    return _context(
        stack, resource.logical_id, resource.resource_type, clients=clients, attempt=resource.attempt
    )


def _context(stack: Stack, logical_id: str, resource_type: str, *, clients: Clients, attempt: str) -> Context:
    return Context(
        clients=clients,
        region=stack.region,
        account=ACCOUNT,
        stack_name=stack.name,
        stack_id=stack.stack_id,
        logical_id=logical_id,
        resource_type=resource_type,
        attempt=attempt,
    )


def _remove(stack: Stack, resource: StackResource, *, clients: Clients) -> None:
    kind, name, physical_id = resource.resource_type, resource.logical_id, resource.physical_id
    stack.record(name, kind, "DELETE_IN_PROGRESS", physical_id=physical_id)
    context = resource_context(stack, resource, clients=clients)
    try:
        provider_of(kind).delete(context, physical_id, resource.properties)
    except _EXPECTED as error:
        stack.record(name, kind, "DELETE_FAILED", physical_id=physical_id, reason=_said(error))
        raise
    stack.record(name, kind, "DELETE_COMPLETE", physical_id=physical_id)


def _said(error: BaseException) -> str:
    """Say what went wrong as CloudFormation does: the service's message, its code, the request."""
    if isinstance(error, ClientError):
        said = error.response["Error"]
        return f"{said.get('Message') or said['Code']} (Service: {error.operation_name}, Error Code: {said['Code']})"
    return getattr(error, "message", None) or str(error)


def deploy_stack(
    stack: Stack,
    *,
    template: Mapping[str, Any],
    template_text: str,
    parameters: dict[str, str],
    tags: dict[str, str],
    verb: str,
    clients: Clients,
) -> None:
    """Bring `stack` to `template`: all of it, or (rolled back) nothing.

    Args:
        stack: The stack, which is changed.
        template: The parsed template.
        template_text: The template as it was sent.
        parameters: Value of each parameter, as text.
        tags: The stack's tags.
        verb: ``CREATE`` or ``UPDATE``.
        clients: Clients to the local AWS.
    """
    stack.enter(f"{verb}_IN_PROGRESS", reason="User Initiated")
    before = dict(stack.resources)
    run: _Deployment | None = None
    try:
        run = _Deployment(stack=stack, template=template, parameters=parameters, clients=clients)
        run.apply()
        stack.outputs, stack.exports = run.outputs()
    except Exception as error:  # noqa: BLE001 - whatever fails, the stack must be rolled back
        if not isinstance(error, _EXPECTED):
            _LOG.exception("our engine failed at %s", run.current if run else stack.name)
        _fail(stack, run, error, verb=verb, template=template, before=before)
        return
    if verb == "UPDATE":
        stack.enter("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
    run.clean_up()
    stack.imports = frozenset(run.imports)
    stack.template, stack.template_text = template, template_text
    stack.description = template.get("Description")
    stack.parameters, stack.tags = parameters, tags
    stack.updated = CLOCK.now() if verb == "UPDATE" else None
    stack.enter(f"{verb}_COMPLETE")


def _fail(
    stack: Stack,
    run: _Deployment | None,
    error: Exception,
    *,
    verb: str,
    template: Mapping[str, Any],
    before: Mapping[str, StackResource],
) -> None:
    current = run.current if run else ""
    if run and current:
        kind = template["Resources"][current]["Type"]
        physical_id = before[current].physical_id if current in before else ""
        stack.record(
            current, kind, f"{run.current_verb}_FAILED", physical_id=physical_id, reason=_said(error)
        )
    reason = f"The following resource(s) failed to {verb.lower()}: [{current}]." if current else _said(error)
    if stack.disable_rollback:
        stack.enter(f"{verb}_FAILED", reason=reason)
        return
    word = "ROLLBACK" if verb == "CREATE" else "UPDATE_ROLLBACK"
    stack.enter(f"{word}_IN_PROGRESS", reason=f"{reason} Rollback requested by user.")
    failed = run.roll_back() if run else ""
    stack.enter(f"{word}_FAILED" if failed else f"{word}_COMPLETE", reason=failed or reason)


def _deletion_order(resources: list[StackResource]) -> list[StackResource]:
    """Order so that what refers to others goes before them."""
    by_name = {one.logical_id: one for one in resources}
    definitions = {
        name: {
            "Properties": _only(one.definition.get("Properties") or {}, by_name),
            "DependsOn": [need for need in _listed(one.definition.get("DependsOn")) if need in by_name],
        }
        for name, one in by_name.items()
    }
    return [by_name[name] for name in reversed(creation_order({"Resources": definitions}))]


def _listed(value: str | list[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else value or []


def _only(properties: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce properties to their references to `names`."""
    return {"References": [{"Ref": name} for name in references(properties) if name in names]}


def delete_stack(stack: Stack, *, clients: Clients, retain: frozenset[str] = frozenset()) -> None:
    """Delete a stack and, except for retained ones, its resources.

    Args:
        stack: The stack, which is changed.
        clients: Clients to the local AWS.
        retain: Logical ids to leave behind. Default: none.
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
    for resource in _deletion_order(list(stack.resources.values())):
        if resource.retained("DeletionPolicy") or resource.logical_id in retain:
            stack.record(
                resource.logical_id,
                resource.resource_type,
                "DELETE_SKIPPED",
                physical_id=resource.physical_id,
            )
        else:
            try:
                _remove(stack, resource, clients=clients)
            except _EXPECTED:
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
