"""Templates as the rules read them: resources by type, with resolved properties and their positions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from ultracluster_checks.intrinsics import evaluate, resolve
from ultracluster_checks.model.values import ABSENT, Reference, Text, Unknown, references_in

_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.0+)?")
_WORDS: Final = {"true": True, "false": False}
CONTAINER: Final = "container"
"""In place of a type: the containers of jobs and tasks, wherever their definitions state them."""

_CONTAINERS: Final = (
    ("Batch::JobDefinition", "ContainerProperties"),
    ("Batch::JobDefinition", "NodeProperties.NodeRangeProperties.*.Container"),
    ("Batch::JobDefinition", "EcsProperties.TaskProperties.*.Containers.*"),
)
_PARTITIONS: Final = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A parsed template.

    Attributes:
        name: How people call it: a file, or a stack.
        body: The whole template, functions in their long form.
        region: Region that it is deployed to. Default: not known.
        lines: Line of each value by its path, from 1. Default: not known.
    """

    name: str
    body: Mapping[str, Any]
    region: str | None = None
    lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict)

    def location(self, path: tuple[str | int, ...]) -> str:
        """Return file and line of a value, or of the closest enclosing one."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines[path]}" if path in self.lines else self.name


class Templates:
    """Templates that are checked together, so that imports resolve to exports."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.all: Final = tuple(Template(self, number, source) for number, source in enumerate(sources))
        self._under_way: set[str] = set()

    @property
    def resources(self) -> Iterator["Resource"]:
        """All resources, in the order of the templates."""
        return (resource for template in self.all for resource in template.resources.values())

    def of_type(self, *types: str) -> Iterator["Resource"]:
        """Return the resources of these types, in the order of the templates."""
        for each in types:
            yield from self._by_type.get(each, ())

    @cached_property
    def _by_type(self) -> dict[str, list["Resource"]]:
        found: dict[str, list[Resource]] = {}
        for resource in self.resources:
            found.setdefault(resource.type, []).append(resource)
        return found

    def resource(self, reference: Reference) -> "Resource":
        """Return the resource that a reference points to."""
        return self.all[reference.template].resources[reference.logical_id]

    def exported(self, name: str) -> Any:
        """Return the value exported under a name; unknown if no template exports it."""
        template, value = self._exports.get(name, (None, None))
        if template is None or name in self._under_way:
            return Unknown()
        self._under_way.add(name)
        try:
            return resolve(value, template)
        finally:
            self._under_way.discard(name)

    @cached_property
    def shared(self) -> frozenset[tuple[int, str]]:
        """Resources that are given to templates which are not here: those may add a rule, a policy or a permission to them."""
        imported = {str(resolve(name, at)) for at in self.all for name in _imports(at.source.body)}
        given: list[Any] = [at["Parameters"].value for at in self.of_type("AWS::CloudFormation::Stack")]
        for template in self.all:
            for output in map(_mapping, _mapping(template.source.body.get("Outputs")).values()):
                name = resolve(_mapping(output.get("Export")).get("Name"), template)
                if name is not None and str(name) not in imported:
                    given.append(resolve(output.get("Value"), template))
        return frozenset((each.template, each.logical_id) for each in references_in(given))

    @cached_property
    def _exports(self) -> dict[str, tuple["Template", Any]]:
        found: dict[str, tuple[Template, Any]] = {}
        for template in self.all:
            for output in _mapping(template.source.body.get("Outputs")).values():
                name = resolve(_mapping(_mapping(output).get("Export")).get("Name"), template)
                if isinstance(name, str):
                    found.setdefault(name, (template, _mapping(output).get("Value")))
        return found


class Template:
    """A template: its resources and a resolver of its names."""

    def __init__(self, templates: Templates, number: int, source: Source) -> None:
        self.templates: Final = templates
        self.number: Final = number
        self.source: Final = source
        self.parameters: Final = {
            name: _mapping(each) for name, each in _mapping(source.body.get("Parameters")).items()
        }
        self.resources: Final = {
            logical_id: Resource(self, logical_id, body)
            for logical_id, body in _mapping(source.body.get("Resources")).items()
            if isinstance(body, dict) and isinstance(body.get("Type"), str)
        }
        self._holds: dict[str, bool | None] = {}

    @property
    def region(self) -> str | None:
        """Region of the deployment, if known."""
        return self.source.region

    def name(self, name: str) -> Any:
        """Resolve ``Ref``."""
        if name in self.resources:
            return self._of(name)
        if name in self.parameters:
            return self._default(name)
        return self._pseudo.get(name, Unknown(name))

    @cached_property
    def _pseudo(self) -> Mapping[str, Any]:
        region = self.region
        if region is None:
            return {"AWS::NoValue": ABSENT}
        partitions = (name for start, name in _PARTITIONS.items() if region.startswith(start))
        return {
            "AWS::NoValue": ABSENT,
            "AWS::Region": region,
            "AWS::Partition": next(partitions, "aws"),
            "AWS::URLSuffix": "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com",
        }

    def attribute(self, logical_id: str, attribute: str) -> Any:
        """Resolve ``Fn::GetAtt``."""
        return self._of(logical_id, attribute) if logical_id in self.resources else Unknown()

    def _of(self, logical_id: str, attribute: str = "") -> Any:
        """Return a reference to a resource; unknown if it is any value that its provider or another template gives."""
        kind = self.resources[logical_id].type
        given = kind == "AWS::SSM::Parameter" and attribute == "Value"
        given |= not kind.startswith("AWS::") or kind.startswith("AWS::CloudFormation::")
        reference = Reference(self.number, logical_id, attribute)
        return Unknown(str(reference)[2:-1]) if given else reference

    def mapped(self, keys: list[Any]) -> Any:
        """Resolve ``Fn::FindInMap``."""
        value: Any = self.source.body.get("Mappings")
        for key in keys:
            if not isinstance(value, dict) or not isinstance(key, str | int) or str(key) not in value:
                return Unknown()
            value = value[str(key)]
        return value

    def imported(self, name: Any) -> Any:
        """Resolve ``Fn::ImportValue``."""
        return self.templates.exported(name) if isinstance(name, str) else Unknown()

    def condition(self, name: str) -> bool | None:
        """Evaluate a condition by its name; None if only a deployment can."""
        if name not in self._holds:
            self._holds[name] = None  # of a circle
            self._holds[name] = evaluate(_mapping(self.source.body.get("Conditions")).get(name), self)
        return self._holds[name]

    def _default(self, name: str) -> Any:
        parameter = self.parameters[name]
        kind, default = str(parameter.get("Type")), parameter.get("Default")
        if default in (None, "") or kind.startswith("AWS::SSM::") or isinstance(default, dict | list):
            return Unknown(name)
        if kind.startswith("List<") or kind == "CommaDelimitedList":
            return [part.strip() for part in str(default).split(",")]
        return default


class Resource:
    """One resource of a template; its body is what stands under its logical ID."""

    def __init__(self, template: Template, logical_id: str, body: Mapping[str, Any]) -> None:
        self.template: Final = template
        self.logical_id: Final = logical_id
        self.type: Final[str] = body["Type"]
        self.body: Final = body

    @cached_property
    def properties(self) -> "Property":
        """Properties."""
        return Property(self, ("Properties",), resolve(self.body.get("Properties", {}), self.template))

    def __getitem__(self, key: str) -> "Property":
        return self.properties[key]

    @property
    def region(self) -> str | None:
        """Region of the deployment, if known."""
        return self.template.region

    def referrers(self, kind: str, key: str) -> list["Resource"]:
        """Return the resources of a type that refer to this one by a property."""
        return [each for each in self.template.templates.of_type(kind) if each[key].target is self]

    @property
    def is_shared(self) -> bool:
        """Whether a template that is not here may add to it."""
        return (self.template.number, self.logical_id) in self.template.templates.shared

    def attribute(self, key: str) -> "Property":
        """Return an attribute beside the properties, such as ``DeletionPolicy``."""
        value = self.body.get(key, ABSENT)
        return Property(self, (key,), value if value is ABSENT else resolve(value, self.template))


@dataclass(slots=True)  # created for every value that a rule reads; frozen ones take twice as long
class Property:
    """A resolved value of a resource, with its position."""

    resource: Resource
    path: tuple[str | int, ...]
    value: Any
    # Each of many rules reads the same parts.
    _parts: dict[str, "Property"] | None = field(default=None, init=False, repr=False, compare=False)
    _all: list["Property"] | None = field(default=None, init=False, repr=False, compare=False)

    def __getitem__(self, key: str) -> "Property":
        """Return a member; absent if it is known to be missing, unknown if undecidable."""
        if self._parts is None:
            self._parts = {}
        part = self._parts.get(key)
        if part is None:
            if isinstance(self.value, dict):
                value = self.value.get(key, ABSENT)
            else:
                value = ABSENT if self.missing else Unknown(optional=True)
            part = self._parts[key] = Property(self.resource, (*self.path, key), value)
        return part

    @property
    def missing(self) -> bool:
        """Whether the property is known to be absent."""
        return self.value is ABSENT or self.value is None

    @property
    def unknown(self) -> bool:
        """Whether only a deployment knows the value."""
        return isinstance(self.value, Unknown)

    @property
    def given(self) -> bool:
        """Whether the property is there whatever a deployment knows."""
        return not self.missing and not (isinstance(self.value, Unknown) and self.value.optional)

    @property
    def off(self) -> bool:
        """Whether a switch is off, for which nothing is the same as false."""
        return self.missing or self.flag is False

    @property
    def empty(self) -> bool:
        """Whether a list is known to be missing or to have no items."""
        return self.missing or self.value == []

    @property
    def known(self) -> bool:
        """Whether the property is present and fully known."""
        return not self.missing and _is_known(self.value)

    @property
    def items(self) -> list["Property"]:
        """Return the items of a list; empty if it is not known to be a list."""
        return self.parts if isinstance(self.value, list) else []

    @property
    def certain(self) -> list["Property"]:
        """Return the items of a list that no condition may leave out."""
        return [item for item in self.items if item.given]

    @property
    def texts(self) -> list[str | None]:
        """Return the texts of the items of a list; None for each that is not fully known."""
        return [item.text for item in self.items]

    @property
    def one_or_more(self) -> list["Property"]:
        """Return the items of a list, or a single value as one item, as policies allow."""
        return self.items if isinstance(self.value, list) else [] if self.missing else [self]

    @property
    def members(self) -> list["Property"]:
        """Return the members of a mapping."""
        return self.parts if isinstance(self.value, dict) else []

    @property
    def parts(self) -> list["Property"]:
        """Return the members of a mapping or the items of a list."""
        if self._all is None:
            if isinstance(self.value, dict):
                self._all = [self[key] for key in self.value]
            elif isinstance(self.value, list):
                values = enumerate(self.value)
                self._all = [Property(self.resource, (*self.path, index), value) for index, value in values]
            else:
                return []
        return self._all

    def places(self, path: str) -> list["Property"]:
        """Return the properties at a dotted path, in which ``*`` stands for the items of a list."""
        found = [self]
        for key in path.split("."):
            found = [part for at in found for part in (at.items if key == "*" else [at[key]])]
        return found

    @property
    def text(self) -> str | None:
        """Return the text if it is fully known."""
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, bool):
            return str(self.value).lower()
        return str(self.value) if isinstance(self.value, int | float) else None

    @property
    def pattern(self) -> str:
        """Return the text with ``${…}`` for unknown parts; empty if it is not text."""
        if isinstance(self.value, Text | Reference | Unknown):
            return str(self.value)
        return self.text or ""

    @property
    def number(self) -> int | None:
        """Return an integer, also if written as text."""
        if isinstance(self.value, bool):
            return None
        if isinstance(self.value, float) and self.value.is_integer():
            return int(self.value)
        if isinstance(self.value, str) and _NUMBER.fullmatch(self.value):
            return int(self.value.partition(".")[0])
        return self.value if isinstance(self.value, int) else None

    @property
    def flag(self) -> bool | None:
        """Return a boolean, also if written as text; None if missing, unknown or neither."""
        if isinstance(self.value, str):
            return _WORDS.get(self.value.lower())
        return self.value if isinstance(self.value, bool) else None

    @property
    def target(self) -> Resource | None:
        """Return the resource of these templates that it refers to."""
        if isinstance(self.value, Reference):
            return self.resource.template.templates.resource(self.value)
        return None

    @property
    def targets(self) -> list[Resource]:
        """Return the resources that it refers to, also inside of text, lists and mappings, each once."""
        templates = self.resource.template.templates
        return list(dict.fromkeys(templates.resource(each) for each in references_in(self.value)))

    def __str__(self) -> str:
        path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path)
        return f"{self.resource.logical_id}{path}"


def places(templates: Templates, types: str, path: str) -> list[Property]:
    """Return the properties at a path of all resources of some types, without ``AWS::``, or of each `CONTAINER`."""
    if types == CONTAINER:
        return [at for kind, to in _CONTAINERS for at in places(templates, kind, f"{to}.{path}")]
    kinds = (f"AWS::{kind}" for kind in types.split())
    return [at for resource in templates.of_type(*kinds) for at in resource.properties.places(path)]


def _is_known(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_known(part) for part in value.values())
    if isinstance(value, list):
        return all(_is_known(part) for part in value)
    return not isinstance(value, Unknown | Text | Reference)


def _imports(value: Any) -> Iterator[Any]:
    """Return the name of each import in a template."""
    if isinstance(value, dict):
        if "Fn::ImportValue" in value:
            yield value["Fn::ImportValue"]
        value = [*value.values()]
    for part in value if isinstance(value, list) else ():
        yield from _imports(part)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
