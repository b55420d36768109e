"""Declared properties compared with what services report."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.cloudformation.reported import reported


def differences(declared: Any, shown: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Compare declared with actual properties: path, declared and actual value of each difference.

    Names are compared ignoring case, scalars as strings, lists of tags and of scalars ignoring order. What a service
    does not report is not compared; what it reports beyond the declaration is its default.
    """
    if isinstance(declared, dict) and isinstance(shown, Mapping):
        members = {key.lower(): part for key, part in shown.items()}
        for key, part in declared.items():
            if key.lower() in members:
                yield from differences(part, members[key.lower()], f"{path}/{key}")
    elif isinstance(declared, list) and isinstance(shown, (list, Mapping)):
        ours, theirs = _ordered(declared), _ordered(_without_system_tags(shown))
        if len(ours) != len(theirs):
            yield path, declared, shown
            return
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(one, other, f"{path}/{index}")
    elif _text(declared) != _text(shown):
        yield path, declared, shown


def _without_system_tags(shown: Any) -> list[Any]:
    if isinstance(shown, Mapping):  # tags that a service returns as a map
        shown = [{"Key": key, "Value": part} for key, part in shown.items()]
    return [
        one for one in shown if not (isinstance(one, Mapping) and str(one.get("Key", "")).startswith("aws:"))
    ]


def _ordered(items: list[Any]) -> list[Any]:
    if all(isinstance(one, Mapping) and "Key" in one for one in items):
        return sorted(items, key=lambda one: str(one["Key"]))
    if any(isinstance(one, (Mapping, list)) for one in items):
        return items
    return sorted(items, key=str)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True, default=str)
    text = str(value)
    if text.startswith(("{", "[")):  # one side has the document as a string
        try:
            return json.dumps(json.loads(text), sort_keys=True)
        except ValueError:
            return text
    return text


def differing(stack: str, *, region: str = "us-east-1") -> dict[str, list[str]]:
    """Return the paths of properties that services report differently, for each resource of a stack that has any."""
    found = {
        name: [""] if shown is None else [path for path, *_ in differences(declared, shown)]
        for name, (declared, shown) in reported(stack, region=region).items()
    }
    return {name: paths for name, paths in found.items() if paths}
