"""The rules of a cluster, with their examples."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from tests.rule_examples import EXAMPLES

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout

# What a small valid cluster says. A key that the example gives replaces the one here.
_CLUSTER: Final = {
    "name": "train",
    "region": "us-east-2",
    "zone_id": "use2-az3",
    "instance_type": "trn2.48xlarge",
    "nodes": "4",
    "image_id": "ami-0123456789abcdef0",
    "capacity": "{reservation_id: cr-0123456789abcdef0}",
    "notify": "[ml@example.com]",
}


_EXAMPLES: Final = EXAMPLES["rollout"]


Codes = Callable[[str], set[str]]


def rollout_text(example: str) -> str:
    """The rollout file of an example: itself, or a small valid cluster with its keys."""
    if example.lstrip().startswith("version:"):
        return example
    own = re.findall(r"^(\w+):", example, re.MULTILINE)
    lines = [f"{key}: {value}" for key, value in _CLUSTER.items() if key not in own]
    lines += example.strip().splitlines()
    body = "\n".join(f"        {line}" for line in lines)
    return f"version: 1\nwaves:\n  - name: first\n    clusters:\n      -\n{body}\n"


@pytest.fixture
def codes(write: Callable[[str], Path]) -> Codes:
    """The codes of what is found in an example."""

    def codes(example: str) -> set[str]:
        try:
            loaded = load_rollout(write(rollout_text(example)))
            findings = (*loaded.warnings, *loaded.unshown)
        except FindingsError as error:
            findings = error.findings
        return {finding.code for finding in findings}

    return codes


def test_the_cluster_below_the_examples_has_no_findings(codes: Codes) -> None:
    assert codes("nodes: 4") == {"UC4152"}  # AWS Batch starts its nodes, and was not shown to do so


@pytest.mark.slow
def test_one_example_breaks_each_rule_and_its_neighbour_has_no_findings(codes: Codes) -> None:
    found = {code: (codes(note.fails), codes(note.passes)) for code, note in _EXAMPLES.items()}

    assert len(found) > 150
    assert {code: fails for code, (fails, _) in found.items() if code not in fails} == {}
    assert found["UC4152"][1] == set()
    assert {code: passes for code, (_, passes) in found.items() if passes - {"UC4152"}} == {}
