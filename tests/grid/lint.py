"""Many templates of the same stacks through cfn-lint in little time.

cfn-lint takes a third of a second for each template and 14 milliseconds for each resource. So the resources of all templates of
a Region are put into one, those that are the same but for names and ids only once; what refers to one of them refers
to the one that was put there. Limits on whole templates are checked here.
"""

import ipaddress
import itertools
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.cfn_lint import lint

__all__ = ["problems"]

_MOST_RESOURCES = 500
_MOST_BYTES = 1_000_000
# Size and number of resources; subnets that overlap, since those of all templates meet in few networks here.
_OF_WHOLE_TEMPLATES = ["E1002", "E3010", "E3060"]

# Names and ids that differ from row to row, and mean nothing to a template.
_NAME = re.compile(r"\bg\d{3}\b")
_ID = re.compile(r"\b(ami|cr|fs|sg|subnet|vpc)-[0-9a-f]{17}\b")


def problems(templates: Iterable[tuple[str, str, str]]) -> list[str]:
    """What cfn-lint has against templates.

    Args:
        templates: Name, Region and text of each.

    Returns:
        Each problem, with the name of a template that it is in.
    """
    found = []
    regions: dict[str, _Judged] = {}
    for name, region, text in templates:
        template = json.loads(text)
        if len(text.encode()) > _MOST_BYTES or len(template["Resources"]) > _MOST_RESOURCES:
            found.append(f"{name}: CloudFormation takes no template of this size")
        found += [f"{name}: {each}" for each in _overlaps(template)]
        regions.setdefault(region, _Judged()).add(name, text, template)
    for region, judged in sorted(regions.items()):
        for match in lint(json.dumps(judged.template), regions=[region]):
            path = "/".join(map(str, match.path))
            name = next((name for prefix, name in judged.names.items() if f"/{prefix}" in path), "?")
            found.append(f"{name}: {match} at {path}")
    return found


def _overlaps(template: Mapping[str, Any]) -> list[str]:
    """Subnets of a template that overlap; each of ours has one network."""
    blocks = {
        key: ipaddress.ip_network(part["Properties"]["CidrBlock"])
        for key, part in template["Resources"].items()
        if part["Type"] == "AWS::EC2::Subnet"
    }
    return [
        f"the subnets {one} and {other} overlap"
        for one, other in itertools.combinations(blocks, 2)
        if blocks[one].overlaps(blocks[other])
    ]


class _Judged:
    """The resources of one Region as one template."""

    def __init__(self) -> None:
        self.template: dict[str, Any] = {
            "Resources": {},
            "Metadata": {"cfn-lint": {"config": {"ignore_checks": _OF_WHOLE_TEMPLATES}}},
        }
        self.names: dict[str, str] = {}
        self._keys: dict[str, str] = {}

    def add(self, name: str, text: str, template: Mapping[str, Any]) -> None:
        """Add what is new in a template."""
        prefix = f"P{len(self.names)}X"
        self.names[prefix] = name
        alike = json.loads(_ID.sub(r"\1-0123456789abcdef0", _NAME.sub("g000", text)))["Resources"]
        own = {
            key: prefix + key
            if part["Type"] == "AWS::EC2::VPC"  # which may have an endpoint of a service once only (E3064)
            else self._keys.setdefault(_text(part), prefix + key)
            for key, part in alike.items()
        }
        for key, merged in own.items():
            if merged not in self.template["Resources"]:
                self.template["Resources"][merged] = _renamed(template["Resources"][key], own)
        # Parameters, conditions and rules are the CDK's, the same in each.
        for section in template.keys() - {"Resources", "Outputs", "Metadata"}:
            part = template[section]
            merged_part = {**self.template.get(section, {}), **part} if isinstance(part, Mapping) else part
            self.template[section] = merged_part


def _text(resource: Mapping[str, Any]) -> str:
    """A resource as text, without its place in the tree of constructs."""
    return json.dumps({key: part for key, part in resource.items() if key != "Metadata"}, sort_keys=True)


def _renamed(value: Any, own: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _reference(key, part, own) for key, part in value.items()}
    return [_renamed(each, own) for each in value] if isinstance(value, list) else value


def _reference(key: str, part: Any, own: Mapping[str, str]) -> Any:
    match key, part:
        case ("Ref" | "DependsOn", str() as name) if name in own:
            return own[name]
        case ("DependsOn", list() as listed):
            return sorted({own[name] for name in listed})
        case ("Fn::GetAtt", [str() as name, *attribute]) if name in own:
            return [own[name], *attribute]
        case ("Fn::Sub", str() as text):
            return re.sub(r"\$\{(\w+)", lambda found: "${" + own.get(found[1], found[1]), text)
    return _renamed(part, own)
