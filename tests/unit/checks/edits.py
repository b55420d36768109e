"""Good templates with edits in them, and the codes that they break then."""

import copy
from collections.abc import Mapping
from typing import Any

from ultracluster_checks import Source, check_templates

__all__ = ["CE", "JOB", "LT", "Edits", "codes_after", "edited", "statement"]

LT = "LaunchTemplate/LaunchTemplateData"
CE = "ComputeEnvironment/ComputeResources"
JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"

Edits = Mapping[str, Any]


def statement(**members: Any) -> dict[str, Any]:
    """Return a policy statement that allows something on every resource."""
    return {"Effect": "Allow", "Resource": "*", **members}


def codes_after(foreign: dict[str, Source], base: str, edits: Edits) -> list[str]:
    """Return the codes that a good template breaks after edits."""
    body = edited(foreign[base].body, edits)
    report = check_templates([Source(name=base, body=body, region="us-east-2")])
    return sorted({finding.code for finding in report.findings})


def edited(template: Mapping[str, Any], edits: Edits) -> dict[str, Any]:
    """Give a copy of a template with edits in it.

    Args:
        template: The template.
        edits: Where, and what stands there instead, in the form of edits.yaml.
    """
    result = copy.deepcopy(dict(template))
    for path, value in edits.items():
        first, *keys = path.strip("/").split("/")
        if path.startswith("/"):
            holder: Any = result
            keys = [first, *keys]
        else:
            holder = result["Resources"][_logical_id(result, first)]
            if keys and keys[0].startswith("@"):
                keys[0] = keys[0][1:]
            elif keys:
                keys = ["Properties", *keys]
            else:
                holder, keys = result["Resources"], [_logical_id(result, first)]
        for key in keys[:-1]:
            holder = holder[int(key)] if isinstance(holder, list) else holder.setdefault(key, {})
        _put(holder, keys[-1], copy.deepcopy(value))
    assert result != template, f"{edits} changes nothing"
    return result


def _put(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, list):
        if key == "+":
            holder.append(value)
        elif value is None:
            del holder[int(key)]
        else:
            holder[int(key)] = value
    elif value is None:
        del holder[key]
    else:
        holder[key] = value


def _logical_id(template: dict[str, Any], wanted: str) -> str:
    type_name, _, prefix = wanted.partition(":")
    found = [
        logical_id
        for logical_id, resource in template["Resources"].items()
        if resource["Type"].endswith(f"::{type_name}") and logical_id.startswith(prefix)
    ]
    assert found, f"no {wanted}"
    return found[0]
