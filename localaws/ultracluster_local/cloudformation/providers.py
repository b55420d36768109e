"""Providers: how resource types are created, read, updated and deleted, mostly declared over boto3's API operations.

A type is usually one `ApiProvider`: names of API operations, and paths of IDs and attributes in their responses. What
does not fit is a subclass of `Provider`.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Self

import botocore
import jmespath  # type: ignore[import-untyped]  # ships none
from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.errors import NotUpdatableError, ResourceError
from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.values import Properties, changed_keys, tag_changes, to_api
from ultracluster_local.instance.clients import Clients, service_model

__all__ = ["ApiProvider", "Context", "Provider", "Setting", "Tagging", "unless_gone"]

_GONE = re.compile(r"NotFound|NoSuch|NonExistent|NotExist|Unknown$")


@contextmanager
def unless_gone() -> Iterator[None]:
    """Do without a call for a resource that is gone already, whatever its service calls that."""
    try:
        yield
    except ClientError as error:
        if not _GONE.search(error.response["Error"]["Code"]):
            raise


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """Context of a provider call.

    Attributes:
        clients: Clients of the local AWS.
        region: Region of the stack.
        account: Account of the stack.
        stack_name: Name of the stack.
        stack_id: ARN of the stack.
        logical_id: Logical ID of the resource.
        resource_type: Resource type, such as ``AWS::EC2::VPC``.
        attempt: Number that distinguishes the generated names of a resource and its replacement.
    """

    clients: Clients
    region: str
    account: str
    stack_name: str
    stack_id: str
    logical_id: str
    resource_type: str
    attempt: str = ""

    def call(self, service: str, operation: str, parameters: Mapping[str, Any]) -> Any:
        """Call an API operation such as ``CreateVpc``."""
        client = self.clients.get(service, self.region)
        return getattr(client, botocore.xform_name(operation))(**parameters)

    def arn(self, service: str, resource: str) -> str:
        """Return the ARN of a resource in this Region and account."""
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"

    def generated_name(self, *, limit: int = 128, lower: bool = False) -> str:
        """Generate a name as CloudFormation does: stack name, logical ID and a suffix.

        Args:
            limit: Maximum length.
            lower: Whether the name must be lower case. Default: False.
        """
        seed = f"{self.stack_id}/{self.logical_id}/{self.attempt}".encode()
        suffix = hashlib.sha256(seed).hexdigest()[:12]
        stem = re.sub(r"[^A-Za-z0-9-]", "-", f"{self.stack_name}-{self.logical_id}")[
            : limit - len(suffix) - 1
        ]
        name = f"{stem.rstrip('-')}-{suffix}"
        return name.lower() if lower else name

    def stack_tags(self) -> dict[str, str]:
        """Return the tags that CloudFormation adds to taggable resources."""
        return {
            "aws:cloudformation:stack-name": self.stack_name,
            "aws:cloudformation:stack-id": self.stack_id,
            "aws:cloudformation:logical-id": self.logical_id,
        }


class Provider:
    """Provider of one resource type.

    Attributes:
        follows_content: Whether an update reaches the resource even if its properties stay the same.
    """

    follows_content: ClassVar[bool] = False

    def create(self, context: Context, properties: Properties) -> str:
        """Create the resource and return its physical ID, the value of ``Ref``."""
        raise NotImplementedError

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - for subclasses
        """Return the resource as the service describes it; None if it is gone, or described by no name of its own."""
        return None

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG002 - for subclasses
        """Return the attributes for ``Fn::GetAtt``. Default: none."""
        return {}

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:  # noqa: ARG002 - for subclasses
        """Update the resource in place and return its physical ID.

        Raises:
            NotUpdatableError: If the local AWS cannot update it in place.
        """
        raise NotUpdatableError(resource_type=context.resource_type, properties=changed_keys(old, new))

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Delete the resource; a missing one is no error."""
        raise NotImplementedError

    def create_only(self, resource_type: str, old: Properties, new: Properties) -> frozenset[tuple[str, ...]]:  # noqa: ARG002 - for subclasses
        """Return the paths of properties whose change requires replacement. Default: those of the registry schema."""
        return schemas.create_only(resource_type)

    def refuse_update(self, definition: Mapping[str, Any], new: Properties) -> None:
        """Refuse an update that the policies of `definition` forbid. Default: none.

        Raises:
            ResourceError: If they do.
        """

    def conditional_create_only(self, resource_type: str) -> frozenset[tuple[str, ...]]:
        """Return the paths of properties whose change may require replacement; an update in place is tried first."""
        return schemas.create_only(resource_type, conditional=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tagging:
    """How a service changes the tags of an existing resource.

    Attributes:
        service: Service name of boto3.
        add: Operation that sets tags.
        remove: Operation that removes tags.
        target: Parameter that identifies the resource; here and below, in any case.
        tags: Parameter with the tags to set.
        keys: Parameter with the keys to remove.
        attribute: Attribute with the value of `target`. Default: the physical ID.
        fixed: Further parameters of both operations.
    """

    service: str
    add: str = "TagResource"
    remove: str = "UntagResource"
    target: str = "ResourceArn"
    tags: str = "Tags"
    keys: str = "TagKeys"
    attribute: str = ""
    fixed: Mapping[str, str] = field(default_factory=dict)

    def apply(self, context: Context, target: str, old: Any, new: Any) -> None:
        """Replace the tags of `target` with those of `new`."""
        changed, removed = tag_changes(old, new)
        for operation, parameter, value in (
            (self.add, self.tags, changed),
            (self.remove, self.keys, removed),
        ):
            if value:
                shape = service_model(self.service).operation_model(operation).input_shape
                members = {name.lower(): member for name, member in shape.members.items()}
                by_tag = (
                    isinstance(value, list) and members[parameter.lower()].member.type_name == "structure"
                )
                sent = [{"Key": key} for key in value] if by_tag else value
                context.call(
                    self.service,
                    operation,
                    to_api(shape, {**self.fixed, self.target: target, parameter: sent}),
                )


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """A property that an operation of its own puts.

    Attributes:
        put: Operation that puts it.
        sent: Its parameter, or a conversion of its value to parameters. Default: the name of the property.
        remove: Operation that removes it; empty if `absent` is put instead.
        absent: Value of a resource without the property; None if it cannot be taken away.
        at_creation: Whether the operation that creates the resource takes the property too.
    """

    put: str
    sent: str | Callable[[Any], Mapping[str, Any]] = ""
    remove: str = ""
    absent: Any = None
    at_creation: bool = False


Argument = str | Callable[[Context, str, Properties], Mapping[str, Any]]


def _arguments(
    argument: Argument, context: Context, physical_id: str, properties: Properties
) -> Mapping[str, Any]:
    """Expand ``VpcId`` to {VpcId: id} and ``VpcIds[]`` to {VpcIds: [id]}; call a function with the ID."""
    if not isinstance(argument, str):
        return argument(context, physical_id, properties)
    if argument.endswith("[]"):
        return {argument[:-2]: [physical_id]}
    return {argument: physical_id}


@dataclass(frozen=True, kw_only=True)
class ApiProvider(Provider):
    """Provider of a type with one API operation each to create, read, update and delete.

    Attributes:
        service: Service name of boto3.
        creates: Operation that creates it.
        id_path: Path of the physical ID in the response; a leading ``=`` reads it from the request.
        deletes: Operation that deletes it, and its ID parameter; empty if there is nothing to delete.
        reads: Operation that describes it, its ID parameter, and the path of the description in the response.
        attribute_paths: Path in the description of attributes that are not named as the read-only properties of the type.
        updates: Operation that updates it, and its ID parameter; empty if only tags can change.
        whole: Whether `updates` takes all properties together, as the operation that also creates the resource does;
            otherwise it takes those that changed, if it has such parameters.
        partial: Properties of which `updates` takes changed members only.
        generates: Property with a generated name by default, and its maximum length.
        sends: Parameter by property, where the two differ by more than case.
        prepare: Converts properties to parameters. Default: unchanged.
        tagging: How tags change. Default: they cannot change.
        tags_later: Whether tags are set after the creation instead of by it.
        tags_as: Resource type of the tag specification, for EC2 operations that take one.
        settings: Properties with operations of their own, in the order in which they are put.
        owner: Parameter of these operations that identifies the resource.
        apart: Properties that none of these operations takes: they direct CloudFormation, or a subclass sets them.
    """

    service: str
    creates: str
    id_path: str
    deletes: tuple[str, Argument] | None = None
    reads: tuple[str, Argument, str] | None = None
    attribute_paths: Mapping[str, str] = field(default_factory=dict)
    updates: tuple[str, Argument] | None = None
    whole: bool = False
    partial: frozenset[str] = frozenset()
    generates: tuple[str, int] | None = None
    sends: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Context, dict[str, Any]], dict[str, Any]] | None = None
    tagging: Tagging | None = None
    tags_later: bool = False
    tags_as: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    owner: str = ""
    apart: frozenset[str] = frozenset()

    @classmethod
    def described(cls, service: str, noun: str, key: str, **different: Any) -> Self:
        """Declare a type of a service that creates a noun, and describes and deletes it by `key`, as EC2 does.

        Args:
            service: Service name of boto3.
            noun: What the operations are named for, such as ``Subnet``.
            key: Parameter that identifies it; names of members begin with a small letter if it does.
            **different: Attributes that are different.
        """
        member = _member(noun, key)
        usual = {
            "creates": f"Create{noun}",
            "id_path": f"{member}.{key}",
            "deletes": (f"Delete{noun}", key),
            "reads": (f"Describe{noun}s", f"{key}s[]", f"{member}s[0]"),
        }
        return cls(service=service, **usual | different)

    @classmethod
    def got(cls, service: str, noun: str, key: str, **different: Any) -> Self:
        """Declare a type like `described`, of a service that gets a noun by `key`, as IAM does."""
        return cls.described(
            service, noun, key, **{"reads": (f"Get{noun}", key, _member(noun, key))} | different
        )

    def create(self, context: Context, properties: Properties) -> str:
        """Call `creates`, then put the settings that it does not take."""
        later = {name: part for name, part in self.settings.items() if not part.at_creation}
        rest = {key: part for key, part in properties.items() if key not in {*later, *self.apart}}
        request = self._request(context, rest, self.creates)
        answer = context.call(self.service, self.creates, request)
        path = self.id_path
        source, path = (request, path[1:]) if path.startswith("=") else (answer, path)
        physical_id = str(jmespath.search(path, source))
        if self.tags_later and self.tagging:
            own = self._own_tags(context, properties)
            self.tagging.apply(context, self._target(context, physical_id, properties), [], own)
        try:
            self._set(context, physical_id, [name for name in later if name in properties], properties)
        except (ClientError, ResourceError):
            self.delete(context, physical_id, properties)
            raise
        return physical_id

    def _set(self, context: Context, physical_id: str, names: Iterable[str], properties: Properties) -> None:
        """Put settings, or remove those that `properties` lack."""
        owner = {self.owner: physical_id}
        for name in names:
            setting = self.settings[name]
            value = properties.get(name, setting.absent)
            if name not in properties and setting.remove:
                context.call(self.service, setting.remove, owner)
            elif value is None:
                raise NotUpdatableError(resource_type=context.resource_type, properties=[name])
            else:
                sent = setting.sent or name
                given = {sent: value} if isinstance(sent, str) else sent(value)
                shape = service_model(self.service).operation_model(setting.put).input_shape
                context.call(self.service, setting.put, to_api(shape, {**owner, **given}))

    @staticmethod
    def _own_tags(context: Context, properties: Properties) -> list[Mapping[str, str]]:
        stack_tags = ({"Key": key, "Value": value} for key, value in context.stack_tags().items())
        return [*properties.get("Tags", []), *stack_tags]

    def _request(self, context: Context, properties: Properties, operation: str) -> dict[str, Any]:
        prepared = dict(properties)
        if self.generates and self.generates[0] not in prepared:
            prepared[self.generates[0]] = context.generated_name(limit=self.generates[1])
        if self.tags_later or self.tags_as:
            prepared.pop("Tags", None)
        if self.tags_as:
            tags = self._own_tags(context, properties)
            prepared["TagSpecifications"] = [{"ResourceType": self.tags_as, "Tags": tags}]
        shape = service_model(self.service).operation_model(operation).input_shape
        request: dict[str, Any] = to_api(shape, self._prepared(context, prepared))
        return request

    def _prepared(self, context: Context, properties: dict[str, Any]) -> dict[str, Any]:
        renamed = {self.sends.get(key, key): part for key, part in properties.items()}
        return self.prepare(context, renamed) if self.prepare else renamed

    def _target(self, context: Context, physical_id: str, properties: Properties) -> str:
        if self.tagging and self.tagging.attribute:
            return str(self.attributes(context, physical_id, properties)[self.tagging.attribute])
        return physical_id

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:
        """Call `reads`."""
        if self.reads is None:
            return {}
        operation, argument, path = self.reads
        try:
            answer = context.call(
                self.service, operation, _arguments(argument, context, physical_id, properties)
            )
        except ClientError as error:
            if _GONE.search(error.response["Error"]["Code"]):
                return None
            raise
        shown: Mapping[str, Any] | None = jmespath.search(path, answer)
        return shown

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:
        """Read the resource and pick what the registry calls read-only, and `attribute_paths`."""
        kind = context.resource_type.rsplit("::", 1)[-1]
        known, identifier = schemas.read_only(context.resource_type)
        if not {*known, *self.attribute_paths}:
            return {}
        shown = self.read(context, physical_id, properties) or {}
        members = {name.lower(): name for name in shown}
        found = {}
        for name in (*known, *self.attribute_paths):
            path = members.get(name.lower()) or members.get(f"{kind}{name}".lower())
            path = self.attribute_paths.get(name, path)
            value = jmespath.search(path, shown) if path else None
            found[name] = physical_id if value is None and name in identifier else _as_attribute(value)
        return {name: value for name, value in found.items() if value is not None}

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update tags through `tagging`, settings through their operations, and everything else through `updates`."""
        keys = changed_keys(old, new)
        self._set(context, physical_id, [name for name in self.settings if name in keys], new)
        apart = {*self.settings, *self.apart}
        keys = [key for key in keys if key not in apart]
        new = {key: part for key, part in new.items() if key not in apart}
        if "Tags" in keys and self.tagging:
            target = self._target(context, physical_id, old)
            self.tagging.apply(context, target, old.get("Tags"), new.get("Tags"))
            keys.remove("Tags")
        if not keys:
            return physical_id
        operation, argument = self.updates or ("", "")
        shape = service_model(self.service).operation_model(operation).input_shape if operation else None
        taken = {name.lower() for name in shape.members} if shape else set()
        whole = self.whole or operation == self.creates
        if not operation or (
            not whole and any(self.sends.get(key, key).lower() not in taken for key in keys)
        ):
            raise NotUpdatableError(resource_type=context.resource_type, properties=keys)
        sent = dict(new) if whole else {key: new[key] for key in keys if key in new}
        if self.tagging or not whole:
            sent.pop("Tags", None)
        for key in self.partial & set(sent):
            before = old.get(key) or {}
            sent[key] = {name: part for name, part in new[key].items() if before.get(name) != part}
        named = _arguments(argument, context, physical_id, new)
        context.call(self.service, operation, to_api(shape, {**self._prepared(context, sent), **named}))
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Call `deletes`."""
        if self.deletes is None:
            return
        operation, argument = self.deletes
        with unless_gone():
            context.call(self.service, operation, _arguments(argument, context, physical_id, properties))


def _as_attribute(value: Any) -> Any:
    """Convert numbers and times to text, which attributes are."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _member(noun: str, key: str) -> str:
    return noun if key[0].isupper() else f"{noun[0].lower()}{noun[1:]}"
