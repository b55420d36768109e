"""Deploying, updating, rolling back and destroying a rollout sends no purchase request; only the buy command can."""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tests.integration.quickstart_block import deploy, synthesize

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly

pytestmark = pytest.mark.slow

SPENDING = [
    "purchase_capacity_block",
    "purchase_capacity_block_extension",
    "create_capacity_reservation",
    "create_capacity_reservation_fleet",
]


@pytest.fixture
def requests(record_calls: Callable[[Iterable[str]], list[str]]) -> list[str]:
    """Names of the spending calls that reach the local AWS."""
    return record_calls(SPENDING)


@pytest.fixture(scope="module")
def assemblies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The quick start, and the same with more storage."""
    more = {"storage_capacity_gib: 4800": "storage_capacity_gib: 9600"}
    return {
        name: synthesize(tmp_path_factory.mktemp(name), changes)
        for name, changes in {"first": {}, "grown": more}.items()
    }


def test_the_recorder_sees_a_purchase(local_aws: LocalAws, requests: list[str]) -> None:
    ec2 = local_aws.client("ec2", "us-east-2")
    with pytest.raises(ec2.exceptions.ClientError):
        ec2.purchase_capacity_block(
            CapacityBlockOfferingId="cb-0123456789abcdef0", InstancePlatform="Linux/UNIX"
        )
    assert requests == ["purchase_capacity_block"]


def test_a_deployment_never_buys_even_if_it_fails(
    local_aws: LocalAws, requests: list[str], assemblies: dict[str, Path], tmp_path: Path
) -> None:
    deploy(local_aws, assemblies["first"])
    updated = {
        each.name.rsplit("-", 1)[1]: each.status for each in deploy_assembly(local_aws, assemblies["grown"])
    }
    assert updated["Storage"] == "UPDATE_COMPLETE"

    # A change that fails in the middle, so that the stack is rolled back.
    broken = tmp_path / "cdk.out"
    shutil.copytree(assemblies["first"], broken)
    (path,) = broken.rglob("*Cluster*.template.json")
    template = json.loads(path.read_text())
    template["Resources"]["Last"] = {
        "Type": "AWS::Batch::JobQueue",
        "Properties": {
            "Priority": 1,
            "ComputeEnvironmentOrder": [{"ComputeEnvironment": "no-such", "Order": 1}],
        },
    }
    path.write_text(json.dumps(template))
    assert deploy_assembly(local_aws, broken)[-1].status == "UPDATE_ROLLBACK_COMPLETE"

    assert {each.status for each in destroy_assembly(local_aws, assemblies["first"])} == {"DELETE_COMPLETE"}
    assert requests == []
