"""The picture of a plan, read back from the SVG."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli.plan.picture import boxes_of, draw_plan
from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.plan import StackTemplate, compare

pytestmark = pytest.mark.sweep  # matplotlib takes seconds to import

TEXT = "{http://www.w3.org/2000/svg}text"


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


def test_shows_the_parts_and_their_changes(tmp_path: Path) -> None:
    new = stack(image="ami-1", storage=9600)

    draw_plan(compare([stack()], [new]), [new], tmp_path / "one.svg")
    draw_plan(compare([stack()], [new]), [new], tmp_path / "two.svg")

    texts = {str(element.text) for element in ET.parse(tmp_path / "one.svg").iter(TEXT)}  # noqa: S314 - our own file
    assert {
        "a",
        "VPC 10.0.0.0/16",
        "Subnet 10.0.0.0/20 in use2-az3",
        "Nodes (update in place)",
        "up to 4 x trn2.48xlarge",
        "2 EFA interfaces each",
        "capacity-block",
        "FSx for Lustre (update in place)",
        "9,600 GiB",
        "250 MB/s per TiB",
        "Checkpoints",
        "$x$|<Queue>",
    } <= texts
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_new_cluster_is_added_and_an_existing_network_is_named(tmp_path: Path) -> None:
    new = stack()
    del new.template["Resources"]["Vpc"]  # type: ignore[attr-defined]
    boxes = {box.title: box for box in boxes_of(compare([], [new]), [new])}

    assert tmp_path
    assert str(boxes["Nodes"].action) == "add"
    assert "Existing network" in boxes
    assert boxes["Existing network"].action is None


def test_many_jobs_are_counted() -> None:
    jobs = {f"Job{n}": {"Type": "AWS::Batch::JobDefinition", "Properties": {}} for n in range(20)}
    new = stack(**jobs)
    (queue,) = [box for box in boxes_of(compare([new], [new]), [new]) if box.title == "Queue"]

    assert queue.lines[-1] == "and 14 more"
    assert queue.action is None


def test_reports_that_matplotlib_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(FindingsError, match="UC9209"):
        draw_plan(compare([], [stack()]), [stack()], tmp_path / "p.svg")
