"""No job, node or function can buy, reserve or change IAM, whatever is attached to its role later."""

import json
from collections.abc import Iterator
from importlib import resources

import pytest
from tests.golden.synthesis import stacks_of
from tests.security.judged_roles import judged
from tests.security.templates import Template
from tests.unit.ultracluster.iam_evaluation import allows

from ultracluster_spec.grants import SPENDING

pytestmark = pytest.mark.slow

ADMINISTRATOR = {"Effect": "Allow", "Action": "*", "Resource": "*"}
MOST_CHARACTERS = 10_240
"""Of all inline policies of a role, without white space.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html (2026-11)
"""
# Roles that only a service of AWS assumes, never a program of ours or of users, and the one whose purpose is to buy.
_OF_AWS = ("How AWS Batch places jobs", "Copies new objects to buckets")
_BUYS = "Buys capacity by approved orders"
_SUBMITS = "A role of one's own"


def golden(configuration: str) -> list[Template]:
    found: dict[str, Template] = {}
    for one in stacks_of(f"{configuration}.yaml"):
        found[one.name] = Template(
            name=one.name,
            resources=one.resources,
            outputs=one.template.get("Outputs") or {},
            everything=found,
        )
    return list(found.values())


def changes_of_iam() -> Iterator[str]:
    known = json.loads(resources.files("cfnlint.data.AdditionalSpecs").joinpath("Policies.json").read_text())
    for name in known["iam"]["Actions"]:
        if not name.startswith(("get", "list", "generate", "simulate", "passrole")):
            yield f"iam:{name}"


FORBIDDEN = [*SPENDING, *changes_of_iam()]


def may(templates: list[Template]) -> dict[str, list[str]]:
    """What each role may of what none should, with AdministratorAccess attached."""
    exempt = (*_OF_AWS, _BUYS, _SUBMITS)
    found = {
        f"{template.name}/{role_id}": [
            action for action in FORBIDDEN if allows([*statements, ADMINISTRATOR], action.lower())
        ]
        for template, role_id, description, statements in judged(templates)
        if not description.startswith(exempt)
    }
    assert found
    return {role: actions for role, actions in found.items() if actions}


@pytest.mark.parametrize(
    "configuration", ["quickstart", "auto-scaling", "capacity-and-queues", "watched", "jobs"]
)
def test_an_administrator_among_roles_of_a_cluster_cannot_buy_or_change_iam(configuration: str) -> None:
    assert may(golden(configuration)) == {}


def test_an_administrator_among_all_that_we_make_cannot_buy_or_change_iam(templates: list[Template]) -> None:
    assert may(templates) == {}


def test_roles_of_aws_and_of_people_cannot_without_an_administrator(templates: list[Template]) -> None:
    found = [
        (role_id, action)
        for template, role_id, description, statements in judged(templates)
        if not description.startswith(_BUYS)
        for action in FORBIDDEN
        if allows(statements, action.lower())
    ]
    assert found == []


def test_inline_policies_stay_below_the_limit_of_iam(templates: list[Template]) -> None:
    sizes = {
        f"{template.name}/{role_id}": len(json.dumps(statements, separators=(",", ":")))
        for template, role_id, _, statements in judged(templates)
    }
    assert max(sizes.values()) < MOST_CHARACTERS / 2
