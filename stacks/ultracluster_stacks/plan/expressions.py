"""Values of templates: their canonical form, references and differences."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_PLACEHOLDER: Final = re.compile(r"\$\{(!?)([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Reference:
    """Target of a reference.

    Attributes:
        name: Logical ID, parameter, pseudo parameter, condition or mapping; the name of the export for an import.
        attribute: Attribute; empty for the ID, ``import`` for an export of another stack.
    """

    name: str
    attribute: str


IMPORT: Final = "import"


def is_expression(value: Any) -> bool:
    """Return whether `value` is a single function call, such as ``{"Ref": "Vpc"}``."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    name = next(iter(value))
    return isinstance(name, str) and (name in {"Ref", "Condition"} or name.startswith("Fn::"))


def written(value: Any) -> Any:
    """Normalize spelling: ``GetAtt`` as a list, tags in sorted order."""
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
    """Normalize expressions of equal value: as `written` does, and ``Sub`` and ``Join`` as fragments."""
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
    for match in _PLACEHOLDER.finditer(text):
        fragments.append(text[end : match.start()])
        end = match.end()
        literal, name = match.groups()
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
        for fragment in inner:
            if isinstance(fragment, str) and flat and isinstance(flat[-1], str):
                flat[-1] += fragment
            elif fragment != "":
                flat.append(fragment)
    if not flat:
        return ""
    return flat[0] if len(flat) == 1 else {"Fn::Join": ["", flat]}


def references(value: Any) -> Iterator[Reference]:
    """Iterate over all references in `value`."""
    if isinstance(value, list):
        for part in value:
            yield from references(part)
    if not isinstance(value, dict):
        return
    if is_expression(value):
        ((name, argument),) = value.items()
        yield from _named(name, argument)
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


def macros(value: Any) -> list[str]:
    """Return the calls of macros in `value`, each with all that it is given."""
    if isinstance(value, list):
        return [macro for part in value for macro in macros(part)]
    if not isinstance(value, dict):
        return []
    own = [json.dumps(value["Fn::Transform"], sort_keys=True)] if "Fn::Transform" in value else []
    return [*own, *(macro for name in sorted(value) for macro in macros(value[name]))]


def _named(function: str, argument: Any) -> Iterator[Reference]:
    """Yield the logical ID, parameter, condition or mapping that a function names."""
    if function == "Ref" or (function == "Condition" and isinstance(argument, str)):
        yield Reference(str(argument), "")
    elif function in {"Fn::If", "Fn::FindInMap"}:
        yield from (Reference(first, "") for first in argument[:1] if isinstance(first, str))


def differences(
    before: Any, after: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Iterate over differences between two values; expressions and lists of unequal length differ as a whole."""
    if before == after:
        return
    plain = not is_expression(before) and not is_expression(after)
    if plain and isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from differences(before.get(key), after.get(key), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, (*path, str(index)))
    else:
        yield path, before, after
