"""What only a deployment knows, and what stands in a template that is not here, is no error: for every rule of templates."""

import textwrap
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from tests.golden.synthesis import stacks_of
from tests.rule_examples import EXAMPLES

from ultracluster_checks import Source, check_templates
from ultracluster_stacks.yaml_template import read_yaml_template

pytestmark = pytest.mark.slow

# What may stand in the place of any value, and of a text.
UNKNOWN: dict[str, Any] = {
    "a parameter": {"Ref": "Given"},
    "of another stack": {"Fn::ImportValue": "elsewhere:Value"},
    "of a resource of others": {"Fn::GetAtt": ["Lookup", "Value"]},
    "left out by a condition": {"Fn::If": ["Chosen", {"Ref": "Given"}, {"Ref": "AWS::NoValue"}]},
}
UNKNOWN_TEXT: dict[str, Any] = {
    "a dynamic reference": "{{resolve:ssm:/a/value}}",
    "a dynamic reference with a gap": {"Fn::Sub": "{{resolve:secretsmanager:${Given}:SecretString}}"},
    "a text with a gap": {"Fn::Sub": "${Given}-x"},
}
_AROUND: dict[str, dict[str, Any]] = {
    "Parameters": {"Given": {"Type": "String"}},
    "Conditions": {"Chosen": {"Fn::Equals": [{"Ref": "Given"}, "x"]}},
    "Resources": {"Lookup": {"Type": "Custom::Lookup", "Properties": {}}},
}
# The group itself is no parameter of its own template, and no action ends in -x.
_CERTAIN = {
    *product(
        ("UC3201", "UC5203"),
        ("SourceSecurityGroupId is a parameter", "DestinationSecurityGroupId is a parameter"),
    ),
    ("UC6434", "Action is a text with a gap"),
}

Template = dict[str, Any]
Path_ = tuple[str | int, ...]


def example(code: str) -> Template:
    """The template of an example that keeps its rule, with something unknown to refer to."""
    text = textwrap.indent(EXAMPLES["template"][code].passes.strip("\n"), "  ")
    return around(read_yaml_template(f"Resources:\n{text}")[0])


def around(body: Template) -> Template:
    return body | {name: {**body.get(name, {}), **more} for name, more in _AROUND.items()}


def errors(*bodies: Template, region: str | None = "us-east-2") -> dict[tuple[str, str], str]:
    """The errors of templates, by code and resource."""
    sources = [
        Source(name=f"template{number}", body=body, region=region) for number, body in enumerate(bodies)
    ]
    found = check_templates(sources).errors
    return {(each.code, each.path.partition(".")[0]): str(each) for each in found}


def is_function(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith(("Fn::", "Ref"))


def places(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Each value, with its path; a function is one value."""
    if path:
        yield path, value
    if isinstance(value, dict | list) and not is_function(value):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


def put(value: Any, path: Path_, new: Any) -> Any:
    if not path:
        return new
    first, *rest = path
    changed: Any = value.copy()
    changed[first] = put(changed[first], tuple(rest), new)
    return changed


def with_unknown(body: Template, *, every: int = 1, deep: bool = False) -> Iterator[tuple[str, Template]]:
    """The template with each value in turn, or one of some, as one that is not known in one way or all; and what was changed."""
    count = 0
    for name, resource in body["Resources"].items():
        for path, value in places(resource.get("Properties", {})):
            count += 1
            texts = isinstance(value, str) and not value.isdecimal()
            kinds = [*(UNKNOWN | UNKNOWN_TEXT if texts else UNKNOWN).items()]
            tried = kinds if deep else [kinds[count % len(kinds)]]
            for kind, unknown in () if count % every else tried:
                at = ("Resources", name, "Properties", *path)
                yield f"{'.'.join(map(str, at))} is {kind}", put(body, at, unknown)


def references(value: Any) -> Iterator[tuple[str, Any]]:
    """Each reference to a resource, with the logical ID."""
    if is_function(value) and {"Ref", "Fn::GetAtt"} & {*value}:
        ((_, of),) = value.items()
        yield (of.split(".")[0] if isinstance(of, str) else of[0]), value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from references(part)


def imported(value: Any, name: str) -> Any:
    """The value with an import in the place of each reference to a resource."""
    if any(each == name and at is value for each, at in references(value)):
        return {"Fn::ImportValue": f"elsewhere:{name}"}
    if isinstance(value, dict):
        return {key: imported(part, name) for key, part in value.items()}
    return [imported(part, name) for part in value] if isinstance(value, list) else value


def moved_away(body: Template, name: str) -> Template:
    """The template without a resource, which is in another stack: what refers to it imports it, and it imports the others."""
    others = {key: each for key, each in body["Resources"].items() if key != name}
    named = {other: at for other, at in references(body["Resources"][name]) if other in others}
    outputs = {
        f"Of{other}": {"Value": at, "Export": {"Name": f"here:{other}"}} for other, at in named.items()
    }
    given = {**body.get("Outputs", {}), **outputs}
    return imported(body | {"Resources": others, "Outputs": given}, name)


@pytest.mark.parametrize(
    "deep", [pytest.param(False, id="sample"), pytest.param(True, id="all", marks=pytest.mark.deep)]
)
@pytest.mark.parametrize("code", EXAMPLES["template"])
def test_a_value_that_is_not_known_is_no_error(code: str, deep: bool) -> None:
    body = example(code)
    known = errors(body)

    new = {
        (what, error)
        for what, changed in with_unknown(body, deep=deep)
        for key, error in errors(changed).items()
        if key not in known and (key[0], what.rpartition(".")[2]) not in _CERTAIN
    }

    assert new == set()


@pytest.mark.parametrize("code", EXAMPLES["template"])
def test_a_resource_in_another_stack_makes_no_error(code: str) -> None:
    body = example(code)
    known = errors(body)

    new = {
        (name, error)
        for name in body["Resources"]
        for key, error in errors(moved_away(body, name)).items()
        if key not in known
    }

    assert new == set()


@pytest.mark.parametrize(
    "every", [pytest.param(97, id="sample"), pytest.param(3, id="most", marks=pytest.mark.deep)]
)
@pytest.mark.parametrize("name", ["quickstart.yaml", "own-vpc.py", "auto-scaling.yaml"])
def test_our_own_configurations_with_unknown_values_have_no_error(name: str, every: int) -> None:
    bodies = [around(each.template) for each in stacks_of(name)]
    changed = [
        (what, [*bodies[:place], new, *bodies[place + 1 :]])
        for place, body in enumerate(bodies)
        for what, new in with_unknown(body, every=every)
    ]

    assert errors(*bodies) == {}
    found = [
        (what, error)
        for what, each in changed
        for (code, _), error in errors(*each).items()
        if (code, what.rpartition(".")[2]) not in _CERTAIN
    ]
    assert found == []
    assert [stack for stack in bodies if errors(stack)] == []
