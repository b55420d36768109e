"""The quick start as a plan sees it, and its copies to edit."""

import copy
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_stacks.plan import StackTemplate


class Stacks:
    """The stacks of one cluster, to edit: resources are found by type, and by the start of their logical id."""

    def __init__(self, stacks: list[StackTemplate]) -> None:
        self.stacks = copy.deepcopy(stacks)

    def named(self, part: str) -> dict[str, Any]:
        (found,) = [one.template for one in self.stacks if one.name.endswith(part)]
        return dict(found)

    def find(self, resource_type: str, start: str = "") -> tuple[dict[str, Any], str]:
        found = [
            (template["Resources"], logical_id)
            for template in (dict(one.template) for one in self.stacks)
            for logical_id, resource in template["Resources"].items()
            if resource["Type"] == resource_type and logical_id.startswith(start)
        ]
        assert found, (resource_type, start)
        return found[0]

    def properties(self, resource_type: str, start: str = "") -> dict[str, Any]:
        resources, logical_id = self.find(resource_type, start)
        found: dict[str, Any] = resources[logical_id]["Properties"]
        return found


@pytest.fixture(scope="session")
def quickstart_stacks(assembly: Path) -> list[StackTemplate]:
    return assembled_stacks(assembly)


@pytest.fixture
def stacks(quickstart_stacks: list[StackTemplate]) -> Stacks:
    return Stacks(quickstart_stacks)
