"""Resources as typed L1 classes of aws_cdk, found by the types of their constructors."""

import importlib
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from expressions import Call, Static, Struct

__all__ = ["l1_attribute", "l1_call"]


def l1_call(cluster: Any, place: tuple[str, str], variable: str) -> Call:
    """Return the definition of a resource by its L1 class; the tags of the stage are left to the stage.

    Args:
        cluster: Gives the resource, and expressions for its references.
        place: Which one.
        variable: What the resource is kept in.
    """
    resource = cluster.resource(place)
    module, kind = _class(resource["Type"])
    properties = {name: value for name, value in resource.get("Properties", {}).items() if name != "Tags"}
    tags = resource.get("Properties", {}).get("Tags")
    if isinstance(tags, dict) and (own := {key: tags[key] for key in tags.keys() - cluster.tags.keys()}):
        properties["Tags"] = own
    hints = typing.get_type_hints(kind.__init__)
    return Call(
        f"{module}_.{kind.__name__}",
        [Static(cluster.stack(place)), place[1]],
        {name: _typed(cluster, value, hint, module) for name, value, hint in _matched(properties, hints)},
        variable=variable,
    )


def l1_attribute(kind: str, attribute: str) -> str:
    """Return the name of the property that gives an attribute of a resource."""
    if attribute == "Ref":
        return "ref"
    wanted = "attr" + attribute.replace(".", "").lower()
    return next(name for name in dir(_class(kind)[1]) if name.replace("_", "").lower() == wanted)


def _class(kind: str) -> tuple[str, Any]:
    _, service, name = kind.split("::")
    module = service.lower()
    return module, getattr(importlib.import_module(f"aws_cdk.aws_{module}"), f"Cfn{name}")


def _matched(properties: Mapping[str, Any], hints: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    names = {name.replace("_", "").lower(): name for name in hints}
    for name, value in properties.items():
        ours = names[name.lower()]
        yield ours, value, hints[ours]


def _typed(cluster: Any, value: Any, hint: Any, module: str) -> Any:
    if isinstance(value, list):
        element = next((args[0] for args in _arguments(hint, list)), Any)
        return [_typed(cluster, each, element, module) for each in value]
    if isinstance(value, dict) and (kind := _struct(hint)) and not _is_reference(value):
        hints = typing.get_type_hints(kind.__init__)
        owner = "cdk" if kind.__module__ == "aws_cdk" else f"{module}_"
        return Struct(
            f"{owner}.{kind.__qualname__}",
            {
                name: _typed(cluster, each, each_hint, module)
                for name, each, each_hint in _matched(value, hints)
            },
        )
    return cluster.expression(value)


def _is_reference(value: Mapping[str, Any]) -> bool:
    return "of" in value or (len(value) == 1 and next(iter(value)).startswith(("Fn::", "Ref")))


def _parts(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) is typing.Union:
        for part in typing.get_args(hint):
            yield from _parts(part)
    else:
        yield hint


def _arguments(hint: Any, kind: type) -> Iterator[tuple[Any, ...]]:
    for part in _parts(hint):
        origin = typing.get_origin(part)
        if isinstance(origin, type) and issubclass(kind, origin):
            yield typing.get_args(part)


def _struct(hint: Any) -> Any:
    return next((part for part in _parts(hint) if hasattr(part, "__jsii_name_mapping__")), None)
