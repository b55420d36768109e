"""Whether two cloud assemblies hold the same resources, whatever their logical ids and stacks are called."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["differences", "resources_of"]

_ROUNDS = 8  # more than the longest chain of references

# Where a resource is told apart by a name that follows from logical ids, or by the hash of an asset.
_NAMED_BY_THE_CDK = {("AWS::IAM::Policy", "PolicyName"), ("AWS::Lambda::Function", "Code")}


def differences(ours: Path, theirs: Path) -> list[str]:
    """Return what only one of two assemblies has, as lines to read; empty when they are equal.

    Compared are type, properties and what becomes of a resource that leaves its stack. A reference counts as
    what it refers to, across stacks as well. Left out are metadata, the order of creation that the CDK adds to what
    follows from references, names that the CDK makes of logical ids, and hashes of assets.

    Args:
        ours: A cloud assembly.
        theirs: Another one.
    """
    one, other = (_canonical(resources_of(root)) for root in (ours, theirs))
    return sorted(
        f"only in {name}: {text}"
        for name, more, less in ((ours.name, one, other), (theirs.name, other, one))
        for text in (more - less).elements()
    )


def resources_of(root: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return all resources of an assembly by template and logical id; imports are replaced by what is exported.

    Args:
        root: The assembly; templates of stages are included.
    """
    templates = {
        str(path.relative_to(root)): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.template.json"))
    }
    exports = {
        output["Export"]["Name"]: (name, output["Value"])
        for name, template in templates.items()
        for output in template.get("Outputs", {}).values()
        if "Export" in output
    }
    return {
        (name, logical_id): _located(resource, name, exports)
        for name, template in templates.items()
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] != "AWS::CDK::Metadata"
    }


def _located(value: Any, template: str, exports: Mapping[str, tuple[str, Any]]) -> Any:
    match value:
        case {"Fn::ImportValue": str(name)}:
            exporter, exported = exports[name]
            return _located(exported, exporter, exports)
        case {"Ref": str(name)} if not name.startswith("AWS::"):
            return {"of": (template, name), "attribute": "Ref"}
        case {"Fn::GetAtt": [name, attribute]}:
            return {"of": (template, name), "attribute": attribute}
        case dict():
            return {key: _located(each, template, exports) for key, each in value.items()}
        case list():
            return [_located(each, template, exports) for each in value]
        case _:
            return value


def _canonical(resources: Mapping[tuple[str, str], dict[str, Any]]) -> Counter[str]:
    names = dict.fromkeys(resources, "")
    texts: dict[tuple[str, str], str] = {}
    for _ in range(_ROUNDS):
        texts = {place: _text(resource, names) for place, resource in resources.items()}
        names = {
            place: f"{resources[place]['Type']} {hashlib.sha256(text.encode()).hexdigest()[:12]}"
            for place, text in texts.items()
        }
    return Counter(texts.values())


def _text(resource: dict[str, Any], names: Mapping[tuple[str, str], str]) -> str:
    kind = resource["Type"]
    properties = {
        name: value
        for name, value in resource.get("Properties", {}).items()
        if (kind, name) not in _NAMED_BY_THE_CDK
    }
    kept = {name: resource[name] for name in ("DeletionPolicy", "UpdateReplacePolicy") if name in resource}
    return f"{kind} {json.dumps(_named(properties | kept, names), sort_keys=True)}"


def _named(value: Any, names: Mapping[tuple[str, str], str]) -> Any:
    match value:
        case {"of": tuple() as place, "attribute": attribute}:
            return f"<{names.get(place, 'unknown')}.{attribute}>"
        case dict():
            return {key: _named(each, names) for key, each in value.items()}
        case list():
            return [_named(each, names) for each in value]
        case _:
            return value
