"""Many templates through cfn-lint in little time.

cfn-lint takes a third of a second for each template and 14 milliseconds for each resource. So a resource that is the same in several
templates of a Region, but for names and ids, is judged in the first of them, with all that it refers to; and what is
left of the templates is put into few, with prefixes before the logical ids.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import cfnlint.api

__all__ = ["problems"]

_MOST_RESOURCES = 500
_MOST_BYTES = 1_000_000

# Names and ids that differ from row to row, and mean nothing to a template.
_NAME = re.compile(r"\bg\d{3}\b")
_ID = re.compile(r"\b(ami|cr|sg|subnet|vpc)-[0-9a-f]{17}\b")

_Template = dict[str, Any]


def problems(templates: Iterable[tuple[str, str, str]]) -> list[str]:
    """What cfn-lint has against templates.

    Args:
        templates: Name, Region and text of each.

    Returns:
        Each problem, with the name of a template that it is in.
    """
    left: dict[str, list[tuple[str, _Template]]] = {}
    judged: set[tuple[str, str]] = set()
    found = []
    for name, region, text in templates:
        template = json.loads(text)
        if len(text.encode()) > _MOST_BYTES or len(template["Resources"]) > _MOST_RESOURCES:
            found.append(f"{name}: CloudFormation takes no template of this size")
        alike = json.loads(_ID.sub(r"\1-0123456789abcdef0", _NAME.sub("g000", text)))["Resources"]
        new = {key for key, part in alike.items() if (region, _text(part)) not in judged}
        judged |= {(region, _text(alike[key])) for key in new}
        if new:
            needed = _with_references(new, template["Resources"])
            left.setdefault(region, []).append(
                (
                    name,
                    template
                    | {"Resources": {key: template["Resources"][key] for key in needed}, "Outputs": {}},
                )
            )
    for region, named in sorted(left.items()):
        for merged, names in _merged(named):
            for match in cfnlint.api.lint(json.dumps(merged), regions=[region]):
                path = "/".join(map(str, match.path))
                name = next((name for prefix, name in names.items() if f"/{prefix}" in path), "?")
                found.append(f"{name}: {match} at {path}")
    return found


def _text(resource: Mapping[str, Any]) -> str:
    """A resource as text, without its place in the tree of constructs."""
    return json.dumps({key: part for key, part in resource.items() if key != "Metadata"}, sort_keys=True)


def _with_references(keys: set[str], resources: Mapping[str, Any]) -> list[str]:
    """Resources and all that they refer to, in the order of the template."""
    wanted = set(keys)
    open_keys = list(keys)
    while open_keys:
        text = json.dumps(resources[open_keys.pop()])
        further = {key for key in resources if key in text} - wanted
        wanted |= further
        open_keys += further
    return [key for key in resources if key in wanted]


def _merged(named: Iterable[tuple[str, _Template]]) -> Iterator[tuple[_Template, dict[str, str]]]:
    """Templates of as many resources as CloudFormation takes, each with the names of its parts by their prefixes."""
    whole: _Template = {}
    names: dict[str, str] = {}
    for index, (name, template) in enumerate(named):
        if names and len(whole["Resources"]) + len(template["Resources"]) > _MOST_RESOURCES:
            yield whole, names
            whole, names = {}, {}
        prefix = f"P{index}X"
        names[prefix] = name
        own = template["Resources"]
        renamed = {prefix + key: _renamed(part, own, prefix) for key, part in own.items()}
        for section, parts in (template | {"Resources": renamed}).items():
            if section != "Outputs":  # parameters, conditions and rules are the CDK's, the same in each
                whole[section] = {**whole.get(section, {}), **parts} if isinstance(parts, Mapping) else parts
    if names:
        yield whole, names


def _renamed(value: Any, own: Mapping[str, Any], prefix: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _reference(key, part, own, prefix) for key, part in value.items()}
    return [_renamed(each, own, prefix) for each in value] if isinstance(value, list) else value


def _reference(key: str, part: Any, own: Mapping[str, Any], prefix: str) -> Any:
    match key, part:
        case ("Ref" | "DependsOn", str() as name) if name in own:
            return prefix + name
        case ("DependsOn", list() as listed):
            return [prefix + name for name in listed]
        case ("Fn::GetAtt", [str() as name, *attribute]):
            return [prefix + name, *attribute]
        case ("Fn::Sub", str() as text):
            return re.sub(
                r"\$\{(\w+)", lambda found: "${" + (prefix if found[1] in own else "") + found[1], text
            )
    return _renamed(part, own, prefix)
