"""Read templates in either notation and apply the edits of the tables."""

import fnmatch
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ultracluster_checks import Source, check_templates

HERE = Path(__file__).parent
BASES = HERE / "bases"
BLIND_SETS = ("third", "fourth", "fifth", "sixth")
"""Folders of sets by authors who had seen neither the rules nor the other sets."""

_GOLDEN = HERE.parents[1] / "golden" / "next"

Template = dict[str, Any]
Application = dict[str, Template]
"""Templates of one application by name: those written by hand have one."""

# Golden outputs stand in for what the product itself generates; each holds several stacks.
GOLDEN = {
    "golden_quickstart": "quickstart.yaml.json",
    "golden_spot": "trn1-spot-fine-tune.py.json",
    "golden_p5": "p5-bake-off.py.json",
}
REGIONS = {
    "trn1_spot": "us-west-2",
    "p4d_reservation": "us-east-1",
    "checkpoint_store": "us-east-1",
    "trn2_block": "us-east-2",
    "network": "us-east-2",
    "team_roles": "us-east-2",
    "one_file_trn1": "us-west-2",
    "eks_block": "us-west-2",
    "endpoints_lustre": "us-east-1",
    "data_and_roles": "us-east-2",
    "five_minute_drain": "us-east-2",
    "ultraserver": "us-east-2",
    "inf2_service": "us-west-2",
    "cdk_style": "us-east-1",
    "hyperpod": "us-west-2",
    "watch_function": "us-east-2",
    "batch_trn2_block": "us-east-2",
    "asg_p5en_block": "us-east-2",
    "eks_trn2_nodes": "us-east-2",
    "hyperpod_slurm": "us-east-2",
    "p5_reserved": "us-east-1",
    "data_feed": "us-east-1",
    "block_keeper": "us-east-1",
    "private_net": "us-east-1",
    "team_access": "us-east-1",
    "ec2_trn1n_pair": "us-west-2",
    "pcluster_queue": "us-west-2",
    "ecs_inf2_service": "us-west-2",
    "image_factory": "us-west-2",
    "watch_tower": "us-west-2",
    "trn2_batch_mnp": "us-east-2",
    "trn2_asg_hook": "us-east-2",
    "eks_trn2_cdk": "us-east-2",
    "hyperpod_trn2_eks": "us-east-2",
    "block_steps": "us-east-2",
    "block_runbook": "us-east-2",
    "lustre_dra": "us-east-2",
    "trn_vpc": "us-east-2",
    "train_watch": "us-east-2",
    "sm_train_queue": "us-east-2",
    "research_access": "us-east-2",
    "neuron_ami_bake": "us-west-2",
    "asg_over_block": "us-east-2",
    "asg_odcr": "us-west-2",
    "block_guard": "us-east-2",
    "cdk_trn2": "us-east-2",
    "multi_gen": "us-east-2",
    "train_network": "us-east-2",
    "train_storage": "us-east-2",
    "trn1_life": "us-east-2",
    "trn2_batch": "us-east-2",
    "trn2u_ultra": "us-east-2",
}


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
def _base(name: str) -> tuple[Application, str | None]:
    if name in GOLDEN:
        stacks = json.loads((_GOLDEN / GOLDEN[name]).read_text())
        regions = {stack["region"] for stack in stacks.values()}
        return {stack: body["template"] for stack, body in stacks.items()}, regions.pop()
    (path,) = (*BASES.glob(f"{name}.*"), *HERE.glob(f"*/bases/{name}.*"))
    return {name: parse(path.read_text())}, REGIONS.get(name)


def names() -> list[str]:
    """Return the names of all bases."""
    return sorted(path.stem for path in BASES.iterdir()) + sorted(GOLDEN)


def blind_names(blind: str) -> list[str]:
    """Return the names of the bases of one of `BLIND_SETS`."""
    return sorted(path.stem for path in (HERE / blind / "bases").iterdir())


def base(name: str) -> Application:
    """Return a copy of a base, as it may be edited."""
    application: Application = copied(_base(name)[0])
    return application


def region(name: str) -> str | None:
    """Return the Region that a base is written for."""
    return _base(name)[1]


def edited(application: Application, operations: Sequence[Sequence[Any]]) -> Application:
    """Return the application with operations applied.

    An operation is ``[set, path, value]``, ``[del, path]``, ``[append, path, value]``, ``[merge, path, mapping]``,
    ``[repeat, path, count]`` (that many more of the last element of a list; a text that many times), ``[copy, path,
    path of the original]``, ``[replace, path, text, text]`` or ``[insert, path, text before which, path of a text]``.

    A path is separated by slashes, and ``@Name`` is short for ``Resources/Name/Properties``. A segment may be a
    pattern with ``*``, which stands for every key that fits, and which ``<S3::Bucket>`` narrows to a type;
    ``[Key=Value]`` stands for the elements of a list with that value. What fits in any template of the application
    is edited.

    Raises:
        LookupError: If a path is not in the template, or an operation changes nothing.
    """
    result: Application = copied(application)
    before = json.dumps(result, sort_keys=True)
    for operation in operations:
        done = sum(_apply(template, operation) for template in result.values())
        if not done:
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
            container[key] = item * rest[0] if isinstance(item, str) else item + [item[-1]] * rest[0]
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


def problems(application: Application, where: str | None) -> Iterator[tuple[str, Any]]:
    """Yield code and place of each finding."""
    sources = [Source(name=name, body=body, region=where) for name, body in application.items()]
    for problem in check_templates(sources).problems:
        yield problem.finding.code, problem.place


def path_of(place: Any) -> str:
    """Return the path of a place in its resource, without places in lists, since edits move them."""
    return ".".join("*" if isinstance(part, int) else str(part) for part in place.path)


def findings(application: Application, where: str | None) -> Found:
    """Return how often each code is found at each path."""
    return Counter(
        (code, f"{place.resource.logical_id}.{path_of(place)}")
        for code, place in problems(application, where)
    )


def by_code(found: Mapping[tuple[str, str], int]) -> Counter[str]:
    """Return how often each code is found, wherever."""
    result: Counter[str] = Counter()
    for (code, _), count in found.items():
        result[code] += count
    return result
