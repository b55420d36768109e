"""Changing single values of a YAML text, with everything else as its author wrote it: comments, order, quotes, style."""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from ultracluster_stacks.config.reading.problem import Loc

__all__ = ["set_values"]


def set_values(text: str, values: Mapping[Loc, str | int]) -> str:
    """Set values in a YAML text, replacing those that exist.

    Places are found by the positions that the YAML parser gives. A key that is missing is written before the first key
    of its mapping, which is right in block style as well as in braces.

    Args:
        text: One YAML document without aliases, such as one that `load_rollout` accepts.
        values: The new value of each place. Lists on the way to it, and what they have at its index, must exist.

    Returns:
        The text with the values, text of them in double quotes.
    """
    for loc, value in reversed(list(values.items())):  # each new key comes before those that are there
        text = _set_value(text, loc, json.dumps(value))  # a JSON string is a YAML string
    return text


def _set_value(text: str, loc: Loc, written: str) -> str:
    # The positions count the characters of a text; the parser of libyaml is not needed for one of this size.
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    for depth, part in enumerate(loc):
        if isinstance(node, yaml.MappingNode):
            found = next((value for key, value in node.value if key.value == part), None)
            if found is None:
                return _insert(text, node, _key(loc[depth:], written))
            node = found
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
        else:  # a mapping that is left empty
            return _replace(text, node, f"{{{_key(loc[depth:], written)}}}")
    return _replace(text, node, written)


def _key(missing: Loc, written: str) -> str:
    """Write a key with its value; where several mappings are missing, the inner ones in braces."""
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
    before = " " if text[:start].endswith(":") else ""  # nothing stood there
    after = "\n" if text[start:end].endswith("\n") else ""  # a block scalar ends with its line
    return f"{text[:start]}{before}{written}{after}{text[end:]}"
