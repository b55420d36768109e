"""Parsing of templates, and dependencies of their resources."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from ultracluster_local.cloudformation.errors import ValidationError

__all__ = ["SUBSTITUTION", "creation_order", "is_intrinsic", "parse", "references"]

SUBSTITUTION = re.compile(r"\$\{([^!}][^}]*)\}")
"""A reference in the text of `Fn::Sub`."""


class _Loader(yaml.SafeLoader):
    """YAML loader with CloudFormation's short-form functions; dates such as 2012-10-17 stay strings."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _short_tag(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _short_tag)


def parse(text: str) -> dict[str, Any]:
    """Parse a template in JSON or YAML.

    Raises:
        ValidationError: If it is not a template.
    """
    try:
        # JSON first: the CDK writes it, and it parses a hundred times faster than YAML.
        template = json.loads(text) if text.lstrip().startswith("{") else yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except json.JSONDecodeError as error:
        try:  # CloudFormation accepts trailing commas: localstack/localstack, tests/aws/templates/cfn_lambda_serverless.yml ran there
            template = json.loads(re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', r"\1", text))
        except ValueError:
            where = f"(line {error.lineno}, column {error.colno + 1})"  # after the character that it did not expect
            raise ValidationError(f"Template format error: JSON not well-formed. {where}") from None
    except (ValueError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ValidationError(f"Template format error: YAML not well-formed.{where}") from None
    if not isinstance(template, dict):
        raise ValidationError("Template format error: unsupported structure.")
    if not isinstance(template.get("Resources"), dict) or not template["Resources"]:
        raise ValidationError("Template format error: At least one Resources member must be defined.")
    return template


def is_intrinsic(value: Any) -> bool:
    """Return whether `value` is an intrinsic function such as ``{"Ref": "Vpc"}``."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    name = next(iter(value))
    return name in {"Ref", "Condition"} or name.startswith("Fn::")


def references(value: Any) -> Iterator[str]:
    """Return the names that `value` refers to: resources, parameters and pseudo parameters."""
    if isinstance(value, dict):
        if isinstance(value.get("Ref"), str):
            yield value["Ref"]
        target = value.get("Fn::GetAtt")
        if target:
            yield target[0] if isinstance(target, list) else target.split(".")[0]
        if "Fn::Sub" in value:
            text = value["Fn::Sub"]
            local = {} if isinstance(text, str) else text[1]
            for name in SUBSTITUTION.findall(text if isinstance(text, str) else text[0]):
                if name not in local:
                    yield name.split(".")[0]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def creation_order(template: Mapping[str, Any]) -> list[str]:
    """Order resources so that each comes after those it refers to or depends on.

    Raises:
        ValidationError: If a reference is unresolved or circular.
    """
    resources = template["Resources"]
    known = set(resources) | set(template.get("Parameters") or {})
    needs: dict[str, list[str]] = {}
    for name, resource in resources.items():
        explicit = resource.get("DependsOn") or []
        explicit = [explicit] if isinstance(explicit, str) else explicit
        found = [one for one in references(resource.get("Properties") or {}) if not one.startswith("AWS::")]
        missing = sorted({one for one in (*found, *explicit) if one not in known})
        if missing:
            raise ValidationError(
                f"Template format error: Unresolved resource dependencies [{', '.join(missing)}] in the Resources block"
                " of the template"
            )
        needs[name] = [one for one in (*explicit, *found) if one in resources]
    order: list[str] = []
    on_the_way: list[str] = []
    done: set[str] = set()

    def visit(name: str) -> None:
        if name in done:
            return
        if name in on_the_way:
            circle = on_the_way[on_the_way.index(name) :]
            raise ValidationError(f"Circular dependency between resources: [{', '.join(sorted(circle))}]")
        on_the_way.append(name)
        for need in needs[name]:
            visit(need)
        on_the_way.pop()
        done.add(name)
        order.append(name)

    for name in resources:
        visit(name)
    return order
