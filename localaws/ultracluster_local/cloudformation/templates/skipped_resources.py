"""References to resources that a false condition skips."""

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.stacks import Stack
from ultracluster_local.cloudformation.templates.intrinsic_functions import Scope
from ultracluster_local.cloudformation.templates.parsing import is_intrinsic, references
from ultracluster_local.cloudformation.templates.validation import stack_scope
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.running import running

__all__ = ["refuse_skipped"]


def refuse_skipped(
    template: Mapping[str, Any], parameters: Mapping[str, str], *, region: str, stack: str
) -> None:
    """Refuse a template that refers to a resource which its parameters leave out.

    Raises:
        ValidationError: If a resource or output that is made refers to one that is not.
    """
    if not any("Condition" in resource for resource in template["Resources"].values()):
        return
    scope = _condition_scope(template, parameters, region=region, stack=stack)
    skipped = {name for name, one in template["Resources"].items() if not _is_made(one, scope)}
    for section, prefix in (("Resources", "Template format error: "), ("Outputs", "")):
        for one in (template.get(section) or {}).values():
            if _is_made(one, scope):
                part = one.get("Properties") or {} if section == "Resources" else one["Value"]
                absent = sorted({name for name in _referred(part, scope) if name in skipped})
                if absent:
                    where = f"[{', '.join(absent)}] in the {section} block of the template"
                    raise ValidationError(f"{prefix}Unresolved resource dependencies {where}")


def _is_made(one: Mapping[str, Any], scope: Scope) -> bool:
    return "Condition" not in one or scope.condition(one["Condition"])


def _referred(value: Any, scope: Scope) -> Iterator[str]:
    """Return the names that `value` refers to in the branches that its conditions take."""
    if isinstance(value, list):
        for part in value:
            yield from _referred(part, scope)
    elif isinstance(value, dict) and is_intrinsic(value) and "Fn::If" in value:
        name, met, unmet = value["Fn::If"]
        yield from _referred(met if scope.condition(name) else unmet, scope)
    elif isinstance(value, dict):
        if is_intrinsic(value):
            yield from references(
                {key: part for key, part in value.items() if key in {"Ref", "Fn::GetAtt", "Fn::Sub"}}
            )
        for part in value.values():
            yield from _referred(part, scope)


def _condition_scope(
    template: Mapping[str, Any], parameters: Mapping[str, str], *, region: str, stack: str
) -> Scope:
    def refuse(name: str, *_: str) -> NoReturn:
        raise ValidationError(
            f"Template format error: Unresolved dependencies [{name}]. Cannot reference resources in the Conditions block of the template"
        )

    made = Stack(name=stack, stack_id="", region=region, status="", created=CLOCK.now())
    return stack_scope(
        made, template, parameters, clients=running().clients, imports=set(), ref=refuse, attribute=refuse
    )
