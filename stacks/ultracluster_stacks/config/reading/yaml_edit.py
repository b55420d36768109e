"""Set single values in YAML text, preserving comments, order, quotes and style of everything else."""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from ultracluster_stacks.config.reading.problem import Loc


def set_values(text: str, values: Mapping[Loc, str | int]) -> str:
    """Return YAML text with values added or replaced; strings are in double quotes.

    A missing key is inserted before the first key of its mapping, which is valid in block and flow style. Lists in a
    location, and their items, must exist, and the text has no aliases, as `load_rollout` requires.
    """
    for loc, value in reversed(list(values.items())):  # new keys are inserted first in their mapping
        text = _set_value(text, loc, json.dumps(value))  # a JSON string is a YAML string
    return text


def _set_value(text: str, loc: Loc, written: str) -> str:
    # The pure Python loader counts positions in characters and is fast enough for small texts.
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    for depth, part in enumerate(loc):
        if isinstance(node, yaml.MappingNode):
            child = next((value for key, value in node.value if key.value == part), None)
            if child is None:
                return _insert(text, node, _key(loc[depth:], written))
            node = child
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
        else:  # an empty mapping
            return _replace(text, node, f"{{{_key(loc[depth:], written)}}}")
    return _replace(text, node, written)


def _key(missing: Loc, written: str) -> str:
    """Format a key with its value, with missing inner mappings in flow style."""
    first, *inner = missing
    return f"{first}: {{{_key(tuple(inner), written)}}}" if inner else f"{first}: {written}"


def _insert(text: str, mapping: yaml.MappingNode, entry: str) -> str:
    if not mapping.value:
        return _replace(text, mapping, f"{{{entry}}}")
    mark = mapping.value[0][0].start_mark
    end = ", " if mapping.flow_style else "\n" + " " * mark.column
    return f"{text[: mark.index]}{entry}{end}{text[mark.index :]}"


def _replace(text: str, node: yaml.Node, written: str) -> str:
    start, end = node.start_mark.index, node.end_mark.index
    before = " " if text[:start].endswith(":") else ""  # the value was empty
    after = "\n" if text[start:end].endswith("\n") else ""  # a block scalar ends with its line
    return f"{text[:start]}{before}{written}{after}{text[end:]}"
