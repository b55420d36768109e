"""Every pair of values that clusters can have: loaded, synthesized, judged, deployed to the local AWS, and gone again.

`make test` tries a sample of the rows, and `make check-deep` all of them.
"""

import gzip
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from moto.ec2.models.instance_types import INSTANCE_TYPES
from tests.grid import inventory, lint, requests
from tests.grid.dimensions import DIMENSIONS, REFUSED, ROWS, cluster, name_of, placed
from tests.grid.pairs import Row, pairs_of

from ultracluster_local import LocalAws
from ultracluster_local.cloudformation.resource_types import unsupported_types
from ultracluster_local.deploy import AssemblyStack, deploy_assembly, destroy_assembly, read_assembly
from ultracluster_local.services.batch import compute_environments, instance_types, job_queues
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.in_process import synthesize

pytestmark = pytest.mark.slow

PLACEMENT = "a group that exists"
REGIONS = sorted({part["region"] for part in DIMENSIONS["machine"].values()})

# Sources of capacity with a number of nodes of their own.
MOST_NODES = {
    each["name"]: each["max_nodes"]
    for part in DIMENSIONS["capacity"].values()
    for each in part.get("additional_capacity", ())
}

Templates = dict[str, dict[str, Any]]
Inventory = Mapping[str, Mapping[str, set[str]]]


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid, synthesized, and the local AWS that it is meant for."""

    rows: Sequence[Row]
    local: LocalAws
    assembly: Path
    stacks: list[AssemblyStack]
    before: Inventory


@pytest.fixture(
    scope="module",
    params=[pytest.param(ROWS[6::18], id="sample"), pytest.param(ROWS, id="all", marks=pytest.mark.deep)],
)
def grid(
    request: pytest.FixtureRequest, local_aws_server: LocalAws, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Grid]:
    rows: Sequence[Row] = request.param
    local_aws_server.reset()
    directory = tmp_path_factory.mktemp("grid")
    path = directory / "rollout.yaml"
    clusters = [_filled(local_aws_server, row) for row in rows]
    _write(path, clusters)
    before = {region: inventory.inventory(local_aws_server, region) for region in REGIONS}
    assembly = directory / "cdk.out"
    synthesize(load_rollout(path).config.clusters(), assembly)
    with pytest.MonkeyPatch.context() as patch:
        # AWS Batch and EC2 will know the custom type by the day that it is launched.
        known = instance_types._known() | {"trn9.48xlarge"}
        patch.setattr(instance_types, "_known", lambda: known)
        patch.setitem(INSTANCE_TYPES, "trn9.48xlarge", INSTANCE_TYPES["trn2.48xlarge"])
        # The clusters of the grid are more than one account may have in a Region.
        patch.setattr(compute_environments, "_MOST_ENVIRONMENTS", 10 * len(ROWS))
        patch.setattr(job_queues, "_MOST_QUEUES", 10 * len(ROWS))
        yield Grid(rows, local_aws_server, assembly, read_assembly(assembly), before)
    local_aws_server.reset()


def _write(path: Path, clusters: list[dict[str, Any]]) -> None:
    # JSON is YAML, and keeps the quotes of "03:30".
    path.write_text(json.dumps({"version": 1, "waves": [{"name": "grid", "clusters": clusters}]}))


def _filled(local: LocalAws, row: Row) -> dict[str, Any]:
    """A row as a cluster, in a network and a group that exist where it names some."""
    region = DIMENSIONS["machine"][row["machine"]]["region"]
    existing = {}
    if row["network"].startswith("existing"):
        ec2 = local.client("ec2", region)
        zone_id = DIMENSIONS["machine"][row["machine"]]["zone_id"]
        vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/18", AvailabilityZoneId=zone_id)["Subnet"]
        group = ec2.create_security_group(
            VpcId=vpc, GroupName=name_of(row), Description="a group that exists"
        )
        existing = {"VPC": vpc, "SUBNET": subnet["SubnetId"], "GROUP": group["GroupId"]}
    if row["placement"] == "existing":
        ec2 = local.client("ec2", region)
        if PLACEMENT not in {
            each["GroupName"] for each in ec2.describe_placement_groups()["PlacementGroups"]
        }:
            ec2.create_placement_group(GroupName=PLACEMENT, Strategy="cluster")
    image = local.client("ec2", region).register_image(Name=name_of(row), RootDeviceName="/dev/xvda")
    return placed(row, region=region, **existing) | {"image_id": image["ImageId"]}


@pytest.fixture(scope="module")
def templates(grid: Grid) -> Templates:
    return {stack.name: json.loads(stack.template.read_text()) for stack in grid.stacks}


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """EC2's own description of its instance types, as moto ships it."""
    data = resources.files("moto.ec2").joinpath("resources/instance_types.json.gz").read_bytes()
    return dict(json.loads(gzip.decompress(data)))


def types_of(rows: Iterable[Row]) -> set[str]:
    """Instance types of rows."""
    return {DIMENSIONS["machine"][row["machine"]]["instance_type"] for row in rows}


def of_type(templates: Templates, kind: str) -> dict[str, dict[str, Any]]:
    """Properties of the resources of a type, by stack and logical id."""
    return {
        f"{stack}/{key}": resource["Properties"]
        for stack, template in templates.items()
        for key, resource in template["Resources"].items()
        if resource["Type"] == kind
    }


# What the grid covers


def test_has_sixty_rows_and_more_and_none_twice() -> None:
    assert len(ROWS) >= 60
    assert len({tuple(row.items()) for row in ROWS}) == len(ROWS)


def test_every_pair_of_values_occurs_or_is_refused() -> None:
    covered = set().union(*(pairs_of(row) for row in ROWS))
    missing = [
        dict(pair)
        for (one, values), (other, others) in itertools.combinations(DIMENSIONS.items(), 2)
        for pair in (
            frozenset(both)
            for both in itertools.product([(one, v) for v in values], [(other, v) for v in others])
        )
        if pair not in covered
    ]
    unexplained = [
        pair
        for pair in missing
        if not any(set(names) <= pair.keys() and refused(pair) for names, (_, refused) in REFUSED.items())
    ]
    assert missing
    assert unexplained == []


@pytest.mark.deep
@pytest.mark.parametrize("names", REFUSED, ids=" and ".join)
def test_what_is_left_out_is_what_the_rollout_refuses(names: tuple[str, ...], tmp_path: Path) -> None:
    code, refused = REFUSED[names]
    parts = [
        dict(zip(names, values, strict=True))
        for values in itertools.product(*(DIMENSIONS[name] for name in names))
    ]
    left_out = [part for part in parts if refused(part)]
    assert left_out
    assert len(left_out) < len(parts)
    usual = {name: next(iter(values)) for name, values in DIMENSIONS.items()} | {
        "machine": "trn2.48xlarge",
        "capacity": "on-demand",
    }
    for part in left_out:
        one = cluster(
            usual | part, RESERVATION=f"cr-{0:017x}", PLACEMENT=PLACEMENT, IMAGE="training:2026-11-20"
        )
        one |= {"image_id": f"ami-{0:017x}"}
        path = tmp_path / "rollout.yaml"
        _write(path, [one])
        with pytest.raises(FindingsError, match=code):
            load_rollout(path)


# What judges say of the templates


def test_templates_are_clean_for_their_region(grid: Grid) -> None:
    assert (
        lint.problems((stack.name, stack.region, stack.template.read_text()) for stack in grid.stacks) == []
    )


def test_requests_are_those_of_the_service_models(templates: Templates) -> None:
    judged = [
        (f"{stack}/{key}", resource)
        for stack, template in templates.items()
        for key, resource in template["Resources"].items()
        if resource["Type"] in requests.JUDGED
    ]
    assert {resource["Type"] for _, resource in judged} == set(requests.JUDGED)
    assert {name: found for name, resource in judged if (found := requests.problems(resource))} == {}


def test_interfaces_are_those_that_ec2_can_attach(
    grid: Grid, templates: Templates, described: Mapping[str, Any]
) -> None:
    seen = set()
    for name, properties in of_type(templates, "AWS::EC2::LaunchTemplate").items():
        data = properties["LaunchTemplateData"]
        if data["InstanceType"] not in described:  # the type of one's own
            continue
        seen.add(data["InstanceType"])
        network = described[data["InstanceType"]]["NetworkInfo"]
        places = [(each["NetworkCardIndex"], each["DeviceIndex"]) for each in data["NetworkInterfaces"]]
        assert len(set(places)) == len(places), name
        assert places[0] == (0, 0), name
        assert data["NetworkInterfaces"][0]["InterfaceType"] != "efa-only", name
        efa = [
            each["NetworkCardIndex"] for each in data["NetworkInterfaces"] if "efa" in each["InterfaceType"]
        ]
        assert len(set(efa)) == len(efa) == network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0), name
        for each in data["NetworkInterfaces"]:
            card = network["NetworkCards"][each["NetworkCardIndex"]]
            assert each["DeviceIndex"] < card["MaximumNetworkInterfaces"], name
            assert each["InterfaceType"] in card["InterfaceTypes"], name
    assert types_of(grid.rows) - seen == {"trn9.48xlarge"}


def test_containers_get_every_device_that_ec2_knows(
    grid: Grid, templates: Templates, described: Mapping[str, Any]
) -> None:
    machines = set()
    for name, properties in of_type(templates, "AWS::Batch::JobDefinition").items():
        if "NodeProperties" not in properties:
            continue
        for node_range in properties["NodeProperties"]["NodeRangeProperties"]:
            container = node_range["Container"]
            theirs = described.get(container["InstanceType"])
            if theirs is None:
                continue
            machines.add(container["InstanceType"])
            paths = [each["HostPath"] for each in container["LinuxParameters"]["Devices"]]
            needs = {each["Type"]: int(each["Value"]) for each in container["ResourceRequirements"]}
            efa = theirs["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
            assert sum("uverbs" in path for path in paths) == efa, name
            gpus = sum(each["Count"] for each in theirs.get("GpuInfo", {}).get("Gpus", []))
            assert needs.get("GPU", 0) == gpus, name
            if "NeuronInfo" in theirs:  # EC2 knows no chips of trn2u
                chips = sum(each["Count"] for each in theirs["NeuronInfo"]["NeuronDevices"])
                assert sum("neuron" in path for path in paths) == chips, name
            assert needs["VCPU"] <= theirs["VCpuInfo"]["DefaultVCpus"], name
            assert needs["MEMORY"] < theirs["MemoryInfo"]["SizeInMiB"], name
    with_jobs = types_of(
        row
        for row in grid.rows
        if row["launched by"] == "batch" and row["jobs"] not in {"none", "on one node"}
    )
    assert with_jobs - {"trn9.48xlarge"} <= machines <= types_of(grid.rows)


def test_compute_environments_hold_exactly_the_nodes(
    grid: Grid, templates: Templates, described: Mapping[str, Any]
) -> None:
    rows = {name_of(row): row for row in grid.rows}
    judged = []
    for name, properties in of_type(templates, "AWS::Batch::ComputeEnvironment").items():
        row = rows[name.partition("-")[0]]
        if properties["Type"] == "UNMANAGED":
            assert properties["UnmanagedvCpus"] % int(row["nodes"]) == 0, name
            judged.append(row)
            continue
        compute = properties["ComputeResources"]
        (machine,) = compute["InstanceTypes"]
        if machine != DIMENSIONS["machine"][row["machine"]]["instance_type"]:  # the small node that compiles
            continue
        source = next((each for each in MOST_NODES if f"ComputeEnvironment{each}" in name), None)
        nodes = MOST_NODES[source] if source else int(row["nodes"])
        vcpus = described[machine]["VCpuInfo"]["DefaultVCpus"] if machine in described else 256
        assert compute["MaxvCpus"] == nodes * vcpus, name
        judged.append(row)
    assert all(row in judged for row in grid.rows)


# What the local AWS does with them


def test_the_local_aws_and_the_inventory_have_every_resource_type(templates: Templates) -> None:
    emitted = {each["Type"] for template in templates.values() for each in template["Resources"].values()}
    assert {kind for template in templates.values() for kind in unsupported_types(template)} == set()
    custom = {kind for kind in emitted if kind.startswith("Custom::")}
    assert emitted - custom - inventory.LISTED.keys() - inventory.PARTS.keys() == set()


def test_everything_deploys_and_only_what_holds_data_stays(grid: Grid) -> None:
    deployed = deploy_assembly(grid.local, grid.assembly)
    assert [f"{each.name}: {each.status} {each.reason}" for each in deployed if each.reason] == []
    assert {each.status for each in deployed} == {"CREATE_COMPLETE"}
    assert len(deployed) == 3 * len(grid.rows)
    there = {region: inventory.inventory(grid.local, region) for region in REGIONS}
    assert sum(len(there[region]["AWS::Batch::ComputeEnvironment"]) for region in REGIONS) >= len(grid.rows)

    destroyed = destroy_assembly(grid.local, grid.assembly)
    assert [f"{each.name}: {each.reason}" for each in destroyed if each.status != "DELETE_COMPLETE"] == []
    left = {region: _left(grid, region) for region in REGIONS}
    assert {kind for region in REGIONS for kind in left[region]} == inventory.RETAINED
    assert sum(len(left[region].get("AWS::FSx::FileSystem", ())) for region in REGIONS) == sum(
        row["file system"] != "existing" for row in grid.rows
    )
    for region in REGIONS:
        inventory.remove(grid.local, region, left[region])
    assert {region: _left(grid, region) for region in REGIONS} == {region: {} for region in REGIONS}


def _left(grid: Grid, region: str) -> dict[str, set[str]]:
    """What there is now and was not before, by type."""
    now = inventory.inventory(grid.local, region)
    return {kind: new for kind in now if (new := now[kind] - grid.before[region][kind])}
