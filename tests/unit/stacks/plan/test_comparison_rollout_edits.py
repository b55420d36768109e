"""Edits of a rollout file: one cluster for each, all synthesized as they are and as they shall become."""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import Plan, StackTemplate, compare
from ultracluster_stacks.synthesis.app import synthesize

pytestmark = pytest.mark.slow

Edit = Callable[[dict[str, Any]], Any]
CLUSTER = {
    "region": "us-east-2",
    "zone_id": "use2-az3",
    "instance_type": "trn2.48xlarge",
    "nodes": 4,
    "image_id": "ami-0123456789abcdef0",
    "network": {"nat_gateway": True},
    "file_system": {"storage_capacity_gib": 4800, "per_unit_storage_throughput": 250, "metadata_iops": 6000},
    "jobs": [
        {"name": "first", "image": "123456789012.dkr.ecr.us-east-2.amazonaws.com/t:1", "command": ["a.py"]},
        {"name": "second", "image": "123456789012.dkr.ecr.us-east-2.amazonaws.com/t:1", "command": ["b.py"]},
    ],
}
DANGEROUS: dict[str, tuple[Edit, set[str]]] = {
    "zone": (lambda c: c.update(zone_id="use2-az1"), {"network", "data", "jobs", "refused"}),
    "cidr": (lambda c: c["network"].update(cidr="10.9.0.0/16"), {"network", "data", "jobs", "refused"}),
    "prefix": (lambda c: c["network"].update(subnet_prefix=22), {"network", "data", "jobs", "refused"}),
    # A block may run, and its environment is replaced for each new launch template.
    "image": (lambda c: c.update(image_id="ami-0fedcba9876543210"), {"jobs"}),
    "tags": (lambda c: c.update(tags={"team": "b"}), {"jobs", "unknown"}),
    # Without another way out, endpoints have policies.
    "nat": (lambda c: c["network"].pop("nat_gateway"), {"network", "permission"}),
    "shrink": (lambda c: c["file_system"].update(storage_capacity_gib=2400), {"refused"}),
    "iops": (lambda c: c["file_system"].update(metadata_iops=1500), {"refused"}),
    "no-iops": (lambda c: c["file_system"].pop("metadata_iops"), {"data"}),
    "no-job": (lambda c: c["jobs"].pop(), {"jobs"}),
}
SAFE: dict[str, Edit] = {
    "same": lambda _: None,
    "on-demand": lambda c: c.update(image_id="ami-0fedcba9876543210"),
    "nodes": lambda c: c.update(nodes=8),
    "grow": lambda c: c["file_system"].update(storage_capacity_gib=9600),
    "command": lambda c: c["jobs"][0].update(command=["c.py"]),
}


def rollout(names: Sequence[str], *, edited: bool) -> dict[str, Any]:
    clusters = []
    for number, name in enumerate(names):
        edit = SAFE[name] if name in SAFE else DANGEROUS[name][0]
        cluster: dict[str, Any] = {"name": name} | copy.deepcopy(CLUSTER)
        market = {"market_type": "on-demand"} if name == "on-demand" else {}
        cluster["capacity"] = {"reservation_id": f"cr-{number:017x}", **market}
        if edited:
            edit(cluster)
        clusters.append(cluster)
    if edited and len(clusters) > 1:  # another order and other waves
        first, rest = clusters[-3:], clusters[:-3]
        waves = [{"name": "canary", "clusters": first}, {"name": "all", "clusters": rest}]
    else:
        waves = [{"name": "all", "clusters": clusters}]
    return {"version": 1, "waves": waves}


def synthesized(
    folder: Path, *, edited: bool, names: Sequence[str] = (*DANGEROUS, *SAFE)
) -> list[StackTemplate]:
    folder.mkdir()
    (folder / "rollout.yaml").write_text(yaml.safe_dump(rollout(names, edited=edited)))
    # In this process, which saves the start of six others: what is compared is both without the flags of cdk.json.
    waves = load_rollout(folder / "rollout.yaml").config.waves
    synthesize([each for wave in waves for each in wave.clusters], folder / "cdk.out", processes=1)
    return assembled_stacks(folder / "cdk.out")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("rollouts")
    return compare(synthesized(folder / "old", edited=False), synthesized(folder / "new", edited=True))


def kinds(plan: Plan, cluster: str) -> set[str]:
    stacks = [stack for stack in plan.stacks if stack.cluster == f"{cluster}-us-east-2"]
    assert len(stacks) == 3
    return {str(stop.kind) for stop in Plan(stacks=tuple(stacks)).stops()}


@pytest.mark.parametrize("name", DANGEROUS)
def test_a_dangerous_edit_of_a_rollout_stops(plan: Plan, name: str) -> None:
    assert kinds(plan, name) == DANGEROUS[name][1]


@pytest.mark.parametrize("name", SAFE)
def test_a_safe_edit_of_a_rollout_passes(plan: Plan, name: str) -> None:
    assert kinds(plan, name) == set()


def test_another_order_and_other_waves_change_nothing(plan: Plan) -> None:
    states = {stack.state for stack in plan.stacks if stack.cluster == "same-us-east-2"}

    assert states == {"same"}
