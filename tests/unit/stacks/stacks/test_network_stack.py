"""A rollout in an existing subnet: synthesized, linted, deployed to the local AWS."""

from pathlib import Path

import pytest
from tests.cfn_lint import lint
from tests.unit.stacks.conftest import QUICKSTART

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly, read_assembly
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.in_process import synthesize

pytestmark = pytest.mark.slow

REGION = "us-east-2"


def _assembly(directory: Path, network: str) -> Path:
    line = "        image_id:"
    text = QUICKSTART.read_text()
    assert line in text
    path = directory / "rollout.yaml"
    path.write_text(text.replace(line, f"        network: {network}\n{line}", 1))
    synthesize(load_rollout(path).config.clusters(), directory / "cdk.out")
    return directory / "cdk.out"


def _deploys_clean(local: LocalAws, assembly: Path) -> None:
    for stack in read_assembly(assembly):
        assert [str(each) for each in lint(stack.template.read_text(), regions=[REGION])] == []
    assert [(each.status, each.reason) for each in deploy_assembly(local, assembly)] == [
        ("CREATE_COMPLETE", "")
    ] * 3


def test_a_rollout_uses_an_existing_subnet(local_aws: LocalAws, tmp_path: Path) -> None:
    ec2 = local_aws.client("ec2", REGION)
    vpc_id = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc_id, CidrBlock="10.7.0.0/20", AvailabilityZoneId="use2-az3")["Subnet"]
    vpcs = len(ec2.describe_vpcs()["Vpcs"])
    network = (
        f"{{vpc_id: {vpc_id}, subnet_id: {subnet['SubnetId']}, "
        f"available_addresses: {subnet['AvailableIpAddressCount']}}}"
    )
    assembly = _assembly(tmp_path, network)
    _deploys_clean(local_aws, assembly)
    (environment,) = local_aws.client("batch", REGION).describe_compute_environments()["computeEnvironments"]
    assert environment["computeResources"]["subnets"] == [subnet["SubnetId"]]
    (file_system,) = local_aws.client("fsx", REGION).describe_file_systems()["FileSystems"]
    assert file_system["SubnetIds"] == [subnet["SubnetId"]]
    assert len(ec2.describe_vpcs()["Vpcs"]) == vpcs
    assert {each.status for each in destroy_assembly(local_aws, assembly)} == {"DELETE_COMPLETE"}
