"""The topology of clusters, read back from the SVG."""

import json
from typing import Any

import pytest
from tests.golden.configurations import configurations
from tests.golden.synthesis import stacks_of
from tests.unit.cli.pictures.elements import problems_of, texts_of

from ultracluster_cli.pictures.topology import draw_cluster, read_topology
from ultracluster_stacks.plan import StackTemplate


def stack(*, image: str = "ami-0", storage: int = 4800, vcpus: int = 768, **more: Any) -> StackTemplate:
    def resource(resource_type: str, **properties: Any) -> dict[str, Any]:
        return {"Type": resource_type, "Properties": properties}

    environment = {"MaxvCpus": vcpus, "InstanceTypes": ["trn2.48xlarge"]}
    launch = {
        "ImageId": image,
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "NetworkInterfaces": [{"InterfaceType": "efa"}, {"InterfaceType": "efa-only"}],
    }
    lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}
    resources = {
        "Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16"),
        "Subnet": resource("AWS::EC2::Subnet", CidrBlock="10.0.0.0/20", AvailabilityZoneId="use2-az3"),
        "Nodes": resource("AWS::EC2::LaunchTemplate", LaunchTemplateData=launch),
        "Environment": resource("AWS::Batch::ComputeEnvironment", ComputeResources=environment),
        "Queue": resource("AWS::Batch::JobQueue"),
        "Files": resource("AWS::FSx::FileSystem", StorageCapacity=storage, LustreConfiguration=lustre),
        "Bucket": resource("AWS::S3::Bucket"),
        **more,
    }
    paths = {"Bucket": "a/Checkpoints/Resource/Resource", "Queue": "a/$x$|<Queue>/Resource"}
    template = {"Resources": resources}
    return StackTemplate(cluster="a", name="a-all", region="us-east-2", template=template, paths=paths)


@pytest.mark.parametrize("name", configurations())
def test_every_configuration_can_be_drawn(name: str) -> None:
    stacks = stacks_of(name)

    for cluster in {stack.cluster for stack in stacks}:
        own = [stack for stack in stacks if stack.cluster == cluster]
        assert problems_of(draw_cluster(read_topology(own)).svg()) == []


def test_who_may_reach_what_is_said() -> None:
    text = " ".join(texts_of(draw_cluster(read_topology(stacks_of("quickstart.yaml"))).svg()))

    assert "Lustre (ports: 988, 1018 to 1023)" in text
    assert "Internet: no access." in text
    assert "ecr.api, ecr.dkr" in text


def test_an_existing_network_is_named() -> None:
    new = stack()
    del new.template["Resources"]["Vpc"]  # type: ignore[attr-defined]

    assert read_topology([new]).network == "Existing network"


def test_many_jobs_are_counted() -> None:
    jobs = {f"Job{n}": {"Type": "AWS::Batch::JobDefinition", "Properties": {}} for n in range(20)}
    new = stack(**jobs)
    queue = read_topology([new]).boxes["queue"]

    assert queue.lines[-1] == "and 14 more"


@pytest.mark.parametrize("nodes", [1, 16, 64, 500])
def test_each_node_is_a_square_up_to_64(nodes: int) -> None:
    new = stack(vcpus=192 * nodes)
    drawn = draw_cluster(read_topology([new])).svg()

    assert f"up to {nodes} x trn2.48xlarge" in drawn
    assert drawn.count('width="8.0" height="8.0"') == min(nodes, 64)
    assert problems_of(drawn) == []


def test_nodes_of_an_auto_scaling_group_are_those_of_its_launch_template() -> None:
    nodes = read_topology(stacks_of("auto-scaling.yaml")).boxes["nodes"]

    assert nodes.nodes == 4
    assert nodes.lines[0] == "up to 4 x trn2.48xlarge"
    assert not any("None" in line for line in nodes.lines)


def test_names_of_any_length_stay_in_their_boxes() -> None:
    name = "checkpoints-of-the-research-team-in-the-second-availability-zo"
    text = (
        json.dumps(stack().template).replace('"Bucket":', f'"{name}":').replace('"Queue":', f'"{"W" * 60}":')
    )
    new = StackTemplate(cluster="c" * 60, name="all", region="us-east-2", template=json.loads(text))
    drawn = draw_cluster(read_topology([new])).svg()

    assert problems_of(drawn) == []
    assert f"<title>{name}</title>" in drawn  # the whole name, as a tooltip
