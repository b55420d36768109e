"""Writes CDK apps, in Python and in JavaScript, that define the resources of a given assembly as one would by hand.

With L2 constructs where there is one that can express the resource, else with the typed L1 class. What can be said by
neither stays out; `equality.differences` then shows it.
"""

import re
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Final

import aws_cdk as cdk
from equality import resources_of
from expressions import JAVASCRIPT, PYTHON, Attribute, Call, Expression, Static
from l2_constructs import ABSORBED, L2_ATTRIBUTES, l2_statements
from typed_l1 import l1_attribute, l1_call

__all__ = ["write_apps"]

Place = tuple[str, str]

# As ultracluster_stacks.stacks.cluster_stage does: their tags can only be set at creation.
_UNTAGGED = ["AWS::Batch::ComputeEnvironment", "AWS::EC2::PlacementGroup"]


def write_apps(assembly: Path, directory: Path, *, region: str) -> tuple[Path, Path]:
    """Write the two apps; each takes the number of clusters to define as its argument.

    Args:
        assembly: A cloud assembly with one cluster, to be said again.
        directory: Where to write.
        region: Region of the cluster.

    Returns:
        The app in Python and the one in JavaScript.
    """
    cluster = _Cluster(resources_of(assembly))
    statements = list(cluster.statements())
    python, javascript = directory / "by_hand.py", directory / "by_hand.js"
    python.write_text(_python(statements, cluster.tags, region), encoding="utf-8")
    javascript.write_text(_javascript(statements, cluster.tags, region), encoding="utf-8")
    return python, javascript


_REMOVAL_POLICIES: Final = {"Retain": "RETAIN", "RetainExceptOnCreate": "RETAIN_ON_UPDATE_OR_DELETE"}


class _Cluster:
    """The resources of one cluster, and what each is called in the app."""

    def __init__(self, resources: dict[Place, dict[str, Any]]) -> None:
        self._resources = resources
        self._stacks = {
            template: f"stack{number}" for number, template in enumerate(sorted({t for t, _ in resources}))
        }
        self._l2: set[Place] = set()
        tags = next(
            each["Properties"]["Tags"] for each in resources.values() if each["Type"] == "AWS::EC2::VPC"
        )
        self.tags = {tag["Key"]: tag["Value"] for tag in tags}

    def statements(self) -> Iterator[Expression]:
        for template, stack in self._stacks.items():
            yield Call(
                f"cdk.Stack(stage, {re.sub('[^A-Za-z0-9]', '', template)[-40:]!r})", variable=stack, raw=True
            )
        order = TopologicalSorter({place: self._needs(place) for place in self._resources})
        for place in order.static_order():
            yield from self._define(place)

    def variable(self, place: Place) -> str:
        return f"r{list(self._resources).index(place)}"

    def resource(self, place: Place) -> dict[str, Any]:
        return self._resources[place]

    def stack(self, place: Place) -> str:
        return self._stacks[place[0]]

    def is_l2(self, place: Place) -> bool:
        return place in self._l2

    def of_type(self, kind: str) -> list[Place]:
        return [place for place, resource in self._resources.items() if resource["Type"] == kind]

    def expression(self, value: Any) -> Any:
        """Turn references and intrinsic functions in a value into expressions."""
        match value:
            case {"of": tuple() as place, "attribute": str(name)}:
                return self.attribute(place, name)
            case {"Ref": str(name)}:
                words = re.sub(
                    "(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.removeprefix("AWS::")
                )
                return Static(f"cdk.Aws.{words.upper()}")
            case {"Fn::Join": [glue, parts]}:
                return Call("cdk.Fn.join", [glue, self.expression(parts)])
            case {"Fn::Base64": inner}:
                return Call("cdk.Fn.base64", [self.expression(inner)])
            case {"Fn::Sub": str(text)}:
                return Call("cdk.Fn.sub", [text])
            case dict():
                return {key: self.expression(each) for key, each in value.items()}
            case list():
                return [self.expression(each) for each in value]
            case _:
                return value

    def attribute(self, place: Place, name: str) -> Attribute:
        kind = self._resources[place]["Type"]
        known = L2_ATTRIBUTES.get((kind, name)) if place in self._l2 else None
        return Attribute(self.variable(place), known or l1_attribute(kind, name))

    def _define(self, place: Place) -> Iterator[Expression]:
        resource = self._resources[place]
        if resource["Type"] in ABSORBED and (said := ABSORBED[resource["Type"]](self, place)) is not None:
            yield from said
            return
        statements = l2_statements(self, place)
        if statements is not None:
            self._l2.add(place)
            yield from statements
            if resource["Type"] == "AWS::EC2::SecurityGroup" and "DeletionPolicy" in resource:
                yield _retention(resource, f"{self.variable(place)}.node.default_child")
            return
        variable = self.variable(place)
        yield l1_call(self, place, variable)
        if "DeletionPolicy" in resource:
            yield _retention(resource, variable)

    def _needs(self, place: Place) -> set[Place]:
        needs = set(_places(self._resources[place].get("Properties", {})))
        if self._resources[place]["Type"] in {"AWS::EC2::SecurityGroup", "AWS::EC2::VPCEndpoint"}:
            needs |= {*self.of_type("AWS::EC2::VPC"), *self.of_type("AWS::EC2::Subnet")}
            needs |= {*self.of_type("AWS::EC2::RouteTable")}
        return needs - {place}


def _retention(resource: Mapping[str, Any], variable: str) -> Call:
    policy = _REMOVAL_POLICIES[resource["DeletionPolicy"]]
    return Call(
        f"{variable}.apply_removal_policy",
        [Static(f"cdk.RemovalPolicy.{policy}")],
        {"apply_to_update_replace_policy": True},
    )


def _places(value: Any) -> Iterator[Place]:
    match value:
        case {"of": tuple() as place}:
            yield place
        case dict():
            for each in value.values():
                yield from _places(each)
        case list():
            for each in value:
                yield from _places(each)


def _modules(text: str) -> list[str]:
    used = set(re.findall(r"\b(\w+)_\.", text))
    return sorted({name for name in dir(cdk) if name.startswith("aws_") and name[4:] in used})


def _python(statements: list[Expression], tags: dict[str, str], region: str) -> str:
    body = "\n".join("    " + PYTHON.statement(each) for each in statements)
    imports = "\n".join(f"from aws_cdk import {name} as {name[4:]}_" for name in _modules(body))
    tagging = "\n".join(
        f"    cdk.Tags.of(stage).add({key!r}, {value!r}, exclude_resource_types={_UNTAGGED!r})"
        for key, value in tags.items()
    )
    return f'''"""Written by benchmarks/generate.py."""
import sys
import aws_cdk as cdk
{imports}
CODE = sys.argv[2]
app = cdk.App()
for number in range(int(sys.argv[1])):
    stage = cdk.Stage(app, f"by-hand-{{number}}", env=cdk.Environment(region={region!r}))
{body}
{tagging}
app.synth()
'''


def _javascript(statements: list[Expression], tags: dict[str, str], region: str) -> str:
    body = "\n".join("  " + JAVASCRIPT.statement(each) for each in statements)
    imports = "\n".join(f"const {name[4:]}_ = cdk.{name};" for name in _modules(body))
    tagging = "\n".join(
        f"  cdk.Tags.of(stage).add({key!r}, {value!r}, {{excludeResourceTypes: {_UNTAGGED!r}}});"
        for key, value in tags.items()
    )
    return f"""// Written by benchmarks/generate.py.
const cdk = require("aws-cdk-lib");
{imports}
const CODE = process.argv[3];
const app = new cdk.App();
for (let number = 0; number < Number(process.argv[2]); number++) {{
  const stage = new cdk.Stage(app, `by-hand-${{number}}`, {{env: {{region: {region!r}}}}});
{body}
{tagging}
}}
app.synth();
"""
