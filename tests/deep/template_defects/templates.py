"""Read templates in either notation and apply the edits of the tables."""

import fnmatch
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ultracluster_checks import Source, check_templates

HERE = Path(__file__).parent
BASES = HERE / "bases"
_REGIONS = {"asg_odcr": "us-west-2"}
_REGION = "us-east-2"

Template = dict[str, Any]


class _Loader(yaml.CSafeLoader):
    """YAML as CloudFormation reads it: short functions in their long form, dates as text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _function(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    if suffix in ("Ref", "Condition"):
        return {suffix: value}
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _function)


def parse(text: str) -> Any:
    """Return a parsed template, or any table, with CloudFormation's functions in their long form."""
    if text.lstrip().startswith("{"):
        return _with_lists(json.loads(text))
    return _with_lists(yaml.load(text, _Loader))  # noqa: S506 - a subclass of SafeLoader


def _with_lists(value: Any) -> Any:
    """Return a value whose Fn::GetAtt are lists; rewrites write them as text."""
    if isinstance(value, list):
        return [_with_lists(item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(attribute := value.get("Fn::GetAtt"), str):
        return {"Fn::GetAtt": attribute.split(".", 1)}
    return {key: _with_lists(item) for key, item in value.items()}


@cache
def _base(name: str) -> Template:
    template: Template = parse((BASES / f"{name}.yaml").read_text())
    return template


def names() -> list[str]:
    """Return the names of all bases."""
    return sorted(path.stem for path in BASES.iterdir())


def base(name: str) -> Template:
    """Return a copy of a base, as it may be edited."""
    template: Template = copied(_base(name))
    return template


def region(name: str) -> str:
    """Return the Region that a base is written for."""
    return _REGIONS.get(name, _REGION)


def edited(template: Template, operations: Sequence[Sequence[Any]]) -> Template:
    """Return the template with operations applied.

    An operation is ``[set, path, value]``, ``[del, path]``, ``[append, path, value]``, ``[merge, path, mapping]``,
    ``[repeat, path, count]`` (that many more of the last element of a list; a text that many times), ``[copy, path,
    path of the original]``, ``[replace, path, text, text]`` or ``[insert, path, text before which, path of a text]``.

    A path is separated by slashes, and ``@Name`` is short for ``Resources/Name/Properties``. A segment may be a
    pattern with ``*``, which stands for every key that fits, and which ``<S3::Bucket>`` narrows to a type;
    ``[Key=Value]`` stands for the elements of a list with that value.

    Raises:
        LookupError: If a path is not in the template, or an operation changes nothing.
    """
    result: Template = copied(template)
    before = json.dumps(result, sort_keys=True)
    for operation in operations:
        if not _apply(result, operation):
            raise LookupError(f"nothing in the template fits {operation[1]}")
        after = json.dumps(result, sort_keys=True)
        if after == before:
            raise LookupError(f"{operation} changes nothing")
        before = after
    return result


def copied(value: Any) -> Any:
    """Return a copy of parsed YAML or JSON, in less time than `copy.deepcopy`."""
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list) else value


def _fitting(value: Any, segment: str) -> list[Any]:
    if isinstance(value, dict):
        if match := re.fullmatch(r"(.*)<(.*)>", segment):
            name, kind = match.groups()
            return [key for key in _fitting(value, name) if value[key]["Type"] == f"AWS::{kind}"]
        return [segment] if segment in value else fnmatch.filter(value, segment) if "*" in segment else []
    if not isinstance(value, list):
        return []
    if match := re.fullmatch(r"\[(\w+)=(.*)\]", segment):
        key, wanted = match.groups()
        return [i for i, item in enumerate(value) if isinstance(item, dict) and str(item.get(key)) == wanted]
    if segment == "*":
        return list(range(len(value)))
    return [int(segment)] if segment.isdecimal() and int(segment) < len(value) else []


def _places(value: Any, segments: Sequence[str], *, new: bool) -> Iterator[tuple[Any, Any]]:
    """Yield container and key of each place that a path stands for; the last key may be new."""
    head, rest = segments[0], segments[1:]
    keys = _fitting(value, head)
    if not rest:
        if not keys and new and isinstance(value, dict) and "*" not in head:
            keys = [head]
        yield from ((value, key) for key in keys)
        return
    for key in keys:
        yield from _places(value[key], rest, new=new)


def _apply(template: Template, operation: Sequence[Any]) -> int:
    verb, path, *rest = operation
    places = list(_places(template, _segments(path), new=verb in ("set", "copy")))
    # Backwards, so that deleting an element leaves the places of the others.
    for container, key in reversed(places):
        if verb == "del":
            del container[key]
        elif verb == "set":
            container[key] = copied(rest[0])
        elif verb == "append":
            container[key].append(copied(rest[0]))
        elif verb == "merge":
            container[key].update(copied(rest[0]))
        elif verb == "repeat":
            item = container[key]
            container[key] = (
                item * rest[0] if isinstance(item, str) else item + [copied(item[-1]) for _ in range(rest[0])]
            )
        elif verb == "copy":
            container[key] = copied(_value(template, rest[0]))
        elif verb == "replace":
            container[key] = container[key].replace(rest[0], rest[1])
        elif verb == "insert":
            container[key] = container[key].replace(rest[0], _value(template, rest[1]) + rest[0])
        else:
            raise LookupError(f"unknown operation {verb}")
    return len(places)


def _segments(path: str) -> list[str]:
    first, *rest = re.findall(r"\[[^\]]*\]|[^/]+", path)
    return ["Resources", first[1:], "Properties", *rest] if first.startswith("@") else [first, *rest]


def _value(template: Template, path: str) -> Any:
    ((container, key),) = _places(template, _segments(path), new=False)
    return container[key]


Found = Counter[tuple[str, str]]


def problems(template: Template, where: str | None) -> Iterator[tuple[str, Any]]:
    """Yield code and place of each finding."""
    for problem in check_templates([Source(name="it", body=template, region=where)]).problems:
        yield problem.finding.code, problem.place


def path_of(place: Any) -> str:
    """Return the path of a place in its resource, without places in lists, since edits move them."""
    return ".".join("*" if isinstance(part, int) else str(part) for part in place.path)


def findings(template: Template, where: str | None) -> Found:
    """Return how often each code is found at each path."""
    return Counter(
        (code, f"{place.resource.logical_id}.{path_of(place)}") for code, place in problems(template, where)
    )
