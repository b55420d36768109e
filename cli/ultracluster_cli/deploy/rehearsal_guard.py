"""Refuse to deploy templates as a rehearsal that could start a node, buy capacity or leave anything behind."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ultracluster_checks import check_templates
from ultracluster_checks.codes import EVERY_ACTION
from ultracluster_checks.launches import NEW_RESERVATION
from ultracluster_checks.policies import POWERFUL_POLICY, PURCHASE
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_spec.record import RuleRecord
from ultracluster_stacks.check import read_templates
from ultracluster_stacks.config.rehearsal import REHEARSAL_PREFIX
from ultracluster_stacks.plan import StackTemplate

_SPENDING: Final = frozenset({NEW_RESERVATION, EVERY_ACTION, POWERFUL_POLICY, PURCHASE})
"""Rules for templates on reservations, purchases, and permissions that include them."""

_STARTING: Final = (
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::EC2::EC2Fleet",
    "AWS::EC2::Host",
    "AWS::EC2::Instance",
    "AWS::EC2::SpotFleet",
)


def check_assembly(directory: Path) -> None:
    """Refuse stacks that are named as deployments, can start nodes, retain something, or reserve or buy (UC9702)."""
    spending = [
        str(finding)
        for finding in check_templates(read_templates([directory])).findings
        if finding.code in _SPENDING
    ]
    stacks = assembled_stacks(directory)
    problems = [*spending, *(problem for stack in stacks for problem in _problems(stack))]
    if problems:
        remedy = "Use the app.py of `ultracluster init`, which reads the context value purpose"
        raise FindingsError([Finding(code="UC9702", problem=problem, remedy=remedy) for problem in problems])


def _problems(stack: StackTemplate) -> Iterator[str]:
    if not stack.name.startswith(REHEARSAL_PREFIX):
        yield f"the stack {stack.name} is not one of a rehearsal"
        return
    for logical_id, resource in stack.resources.items():
        kind, where = resource["Type"], f"{stack.name}/{logical_id}"
        if kind in _STARTING and resource["Properties"].get("MaxSize") != "0":
            yield f"{where} is an {kind}, which starts instances"
        if kind == "AWS::Batch::ComputeEnvironment" and not _is_too_small_for_nodes(resource["Properties"]):
            yield f"{where} is a compute environment with room for a node"
        if resource.get("DeletionPolicy") != "Delete":
            yield f"{where} has DeletionPolicy {resource.get('DeletionPolicy')}, and would stay"


def _is_too_small_for_nodes(environment: Mapping[str, Any]) -> bool:
    resources = environment.get("ComputeResources", {})
    bounds = (resources.get("MinvCpus"), resources.get("MaxvCpus"))
    return environment.get("Type") == "UNMANAGED" or bounds == (0, 1)


RECORDS: Final = (
    RuleRecord(
        "UC9702",
        "The templates of a rehearsal start no node, buy nothing and retain nothing.",
        remedy="Use the app.py of `ultracluster init`; an app that builds its own stacks cannot be rehearsed.",
        source="Our decision: what is deployed before the purchase must not cost like what is deployed after it.",
    ),
)
