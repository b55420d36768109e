"""Values of templates: one form for what CloudFormation takes as the same, what they refer to, where they differ."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["IMPORT", "Reference", "canonical", "differences", "is_expression", "references", "written"]

_PLACEHOLDER: Final = re.compile(r"\$\{(!?)([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Reference:
    """What a value refers to.

    Attributes:
        name: Logical id, parameter or pseudo parameter; the name of an export for an import.
        attribute: Attribute of it; empty for its id, ``import`` for an export of another stack.
    """

    name: str
    attribute: str


IMPORT: Final = "import"


def is_expression(value: Any) -> bool:
    """Whether `value` is one function call, such as ``{"Ref": "Vpc"}``."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    name = next(iter(value))
    return isinstance(name, str) and (name in {"Ref", "Condition"} or name.startswith("Fn::"))


def written(value: Any) -> Any:
    """Give what two spellings of one expression have in common: ``GetAtt`` by name or list; tags in any order."""
    if isinstance(value, dict):
        attribute = value.get("Fn::GetAtt")
        if len(value) == 1 and isinstance(attribute, str):
            return {"Fn::GetAtt": attribute.split(".", 1)}
        return {key: written(part) for key, part in value.items()}
    if isinstance(value, list):
        parts = [written(part) for part in value]
        if parts and all(isinstance(part, dict) and set(part) == {"Key", "Value"} for part in parts):
            return sorted(parts, key=lambda tag: json.dumps(tag, sort_keys=True))
        return parts
    return value


def canonical(value: Any) -> Any:
    """Give one form to expressions that have the same value: `written`, and ``Sub`` and ``Join`` as fragments."""
    if is_expression(value):
        ((name, argument),) = value.items()
        if name == "Fn::Sub":
            return _joined(_substituted(argument))
        if name == "Fn::Join" and isinstance(argument, list) and isinstance(argument[1], list):
            fragments: list[Any] = []
            for index, part in enumerate(argument[1]):
                fragments += [argument[0]] * (index > 0) + [canonical(part)]
            return _joined(fragments)
    if isinstance(value, dict):
        return written({key: canonical(part) for key, part in value.items()})
    if isinstance(value, list):
        return written([canonical(part) for part in value])
    return value


def _substituted(argument: Any) -> list[Any]:
    text, names = (argument, {}) if isinstance(argument, str) else (argument[0], argument[1])
    fragments: list[Any] = []
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        fragments.append(text[end : found.start()])
        end = found.end()
        literal, name = found.groups()
        if literal:
            fragments.append(f"${{{name}}}")
        elif name in names:
            fragments.append(canonical(names[name]))
        else:
            fragments.append({"Fn::GetAtt": name.split(".", 1)} if "." in name else {"Ref": name})
    return [*fragments, text[end:]]


def _joined(fragments: list[Any]) -> Any:
    flat: list[Any] = []
    for part in fragments:
        joined = part.get("Fn::Join") if is_expression(part) else None
        inner = joined[1] if joined and joined[0] == "" and isinstance(joined[1], list) else [part]
        for one in inner:
            if isinstance(one, str) and flat and isinstance(flat[-1], str):
                flat[-1] += one
            elif one != "":
                flat.append(one)
    if not flat:
        return ""
    return flat[0] if len(flat) == 1 else {"Fn::Join": ["", flat]}


def references(value: Any) -> Iterator[Reference]:
    """Name everything that `value` refers to."""
    if isinstance(value, list):
        for part in value:
            yield from references(part)
    if not isinstance(value, dict):
        return
    if is_expression(value):
        ((name, argument),) = value.items()
        if name == "Ref":
            yield Reference(str(argument), "")
            return
        if name == "Fn::GetAtt":
            target, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
            yield Reference(target, str(attribute))
            return
        if name == "Fn::ImportValue":
            yield Reference(
                argument if isinstance(argument, str) else json.dumps(canonical(argument)), IMPORT
            )
        if name == "Fn::Sub":
            value = {"": [part for part in _substituted(argument) if not isinstance(part, str)]}
    for part in value.values():
        yield from references(part)


def differences(
    before: Any, after: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Compare two values member by member; expressions, and lists of different length, differ as a whole."""
    if before == after:
        return
    plain = not is_expression(before) and not is_expression(after)
    if plain and isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from differences(before.get(key), after.get(key), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, (*path, str(index)))
    else:
        yield path, before, after
