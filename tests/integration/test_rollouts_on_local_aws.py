"""Every example rollout, synthesized like by app.py, deployed to the local AWS in process, and read back with boto3."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cfn_lint import lint
from tests.unit.stacks.conftest import ROOT, synthesize_rollout, synthesized_templates

from ultracluster_local import LocalAws
from ultracluster_local.cloudformation.resource_types import unsupported_types
from ultracluster_local.deploy import deploy_assembly, destroy_assembly, read_assembly
from ultracluster_stacks.config import load_rollout

pytestmark = pytest.mark.deep

ROLLOUTS = sorted((ROOT / "stacks/rollouts").glob("*.yaml"))
REGION = "us-east-2"


@pytest.fixture(
    scope="module",
    params=ROLLOUTS,
    ids=lambda path: path.stem,
)
def rollout(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture(scope="module")
def assembly(rollout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp(rollout.stem) / "cdk.out"
    done = synthesize_rollout(rollout, directory, cached=False, CDK_VALIDATION="true")
    assert done.returncode == 0, done.stderr
    return directory


def test_the_local_aws_has_every_resource_type_that_we_emit(assembly: Path) -> None:
    missing = {each for template in synthesized_templates(assembly) for each in unsupported_types(template)}
    assert missing == set()


def test_templates_are_clean_for_their_region(assembly: Path) -> None:
    stacks = read_assembly(assembly)
    assert stacks
    for stack in stacks:
        found = lint(stack.template.read_text(), regions=[stack.region])
        assert [f"{stack.name}: {match}" for match in found] == []


def test_the_cdk_validator_finds_nothing(assembly: Path) -> None:
    report = json.loads((assembly / "validation-report.json").read_text())
    assert [each["violations"] for each in report["pluginReports"]] == []


def test_a_resource_type_without_a_provider_is_named(assembly: Path) -> None:
    template = synthesized_templates(assembly)[0]
    template["Resources"]["New"] = {"Type": "AWS::QuantumLedger::Cluster", "Properties": {}}
    assert unsupported_types(template) == ["AWS::QuantumLedger::Cluster"]


def test_redeploys_without_changes_and_retains_data(
    rollout: Path, assembly: Path, local_aws: LocalAws
) -> None:
    clusters = load_rollout(rollout).config.clusters()
    first = deploy_assembly(local_aws, assembly)
    assert [(each.status, each.reason) for each in first] == [("CREATE_COMPLETE", "")] * 3 * len(clusters)
    again = deploy_assembly(local_aws, assembly)
    assert [each.status for each in again] == ["CREATE_COMPLETE"] * len(first)
    assert [each.resources for each in again] == [each.resources for each in first]
    for cluster in clusters:
        _check_read_back(local_aws, cluster)
    gone = destroy_assembly(local_aws, assembly)
    assert {each.status for each in gone} == {"DELETE_COMPLETE"}
    for region in {cluster.region for cluster in clusters}:
        assert local_aws.client("batch", region).describe_compute_environments()["computeEnvironments"] == []
        assert local_aws.client("ec2", region).describe_launch_templates()["LaunchTemplates"] == []
        assert len(local_aws.client("fsx", region).describe_file_systems()["FileSystems"]) == 1
    buckets = [each["Name"] for each in local_aws.client("s3").list_buckets()["Buckets"]]
    assert sum("checkpoints" in name for name in buckets) == len(clusters)


def _check_read_back(local: LocalAws, cluster: Any) -> None:
    """Ask EC2, FSx and Batch of the Region, and compare with what the rollout asks for."""
    ec2 = local.client("ec2", cluster.region)
    cards, vcpus = {"trn2.48xlarge": (16, 192), "trn1.32xlarge": (8, 128)}[cluster.instance_type]
    # Those of precompile jobs have nodes of another type.
    (version,) = [
        version
        for template in ec2.describe_launch_templates()["LaunchTemplates"]
        for version in ec2.describe_launch_template_versions(LaunchTemplateId=template["LaunchTemplateId"])[
            "LaunchTemplateVersions"
        ]
        if version["LaunchTemplateData"]["InstanceType"] == cluster.instance_type
    ]
    data = version["LaunchTemplateData"]
    efa = [
        each["NetworkCardIndex"] for each in data["NetworkInterfaces"] if each["InterfaceType"] != "interface"
    ]
    assert efa == list(range(cards))
    assert data["InstanceMarketOptions"]["MarketType"] == "capacity-block"
    target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target["CapacityReservationId"] == cluster.capacity.reservation_id
    assert "GroupName" not in data.get("Placement", {})
    batch = local.client("batch", cluster.region)
    (environment,) = [
        each
        for each in batch.describe_compute_environments()["computeEnvironments"]
        if each["computeResources"]["instanceTypes"] == [cluster.instance_type]
    ]
    assert environment["computeResources"]["maxvCpus"] == cluster.nodes * vcpus
    assert environment["computeResources"]["launchTemplate"]["version"] == str(version["VersionNumber"])
    assert "placementGroup" not in environment["computeResources"]
    definitions = batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"]
    assert len(definitions) == len(cluster.jobs)
    multi_node = [definition for definition in definitions if definition["type"] == "multinode"]
    assert len(multi_node) == sum(job.kind == "multi-node" for job in cluster.jobs)
    for definition in multi_node:
        (node_range,) = definition["nodeProperties"]["nodeRangeProperties"]
        paths = [each["hostPath"] for each in node_range["container"]["linuxParameters"]["devices"]]
        assert sum(path.startswith("/dev/neuron") for path in paths) == 16
        assert sum(path.startswith("/dev/infiniband/uverbs") for path in paths) == cards
    (file_system,) = local.client("fsx", cluster.region).describe_file_systems()["FileSystems"]
    assert file_system["StorageCapacity"] == cluster.file_system.storage_capacity_gib
    (subnet,) = [
        each for each in ec2.describe_subnets()["Subnets"] if each["SubnetId"] in file_system["SubnetIds"]
    ]
    assert subnet["AvailabilityZoneId"] == cluster.zone_id
    assert environment["computeResources"]["subnets"] == [subnet["SubnetId"]]
