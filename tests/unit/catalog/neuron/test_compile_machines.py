import gzip
import json
from importlib import resources

import pytest

from ultracluster_catalog.neuron.compile_machines import CPU_HOST, compile_type
from ultracluster_catalog.places.zones import OFFERED_ZONES
from ultracluster_spec.instance_type import get_instance_type


@pytest.mark.parametrize(
    ("instance_type", "zone_id", "found"),
    [
        ("trn1.32xlarge", "use2-az3", "trn1.2xlarge"),
        ("trn1.32xlarge", "eun1-az1", None),
        ("trn1.2xlarge", "use2-az3", None),
        ("trn1n.32xlarge", "use2-az3", None),  # the compiler has a target of its own for it
        ("trn2.48xlarge", "use2-az3", None),
        ("trn2.48xlarge", "apse4-az3", "trn2.3xlarge"),
        ("inf2.48xlarge", "use2-az1", "inf2.xlarge"),
        ("p5.48xlarge", "use2-az1", None),
    ],
)
def test_finds_the_smallest_type_of_the_same_target_in_the_zone(
    instance_type: str, zone_id: str, found: str | None
) -> None:
    node = compile_type(get_instance_type(instance_type), zone_id=zone_id, phase="all")
    assert (node and node.name) == found


def test_collected_graphs_compile_on_cpus_where_no_smaller_type_is_sold() -> None:
    # Neuron Compiler FAQ, 2026-08: compilation needs no Neuron device.
    machine = get_instance_type("trn2.48xlarge")
    assert compile_type(machine, zone_id="use2-az3", phase="compile") is CPU_HOST
    assert compile_type(machine, zone_id="use2-az3", phase="compile", instance_type="cpu") is CPU_HOST
    smaller = compile_type(machine, zone_id="apse4-az3", phase="compile")
    assert smaller is not None
    assert smaller.name == "trn2.3xlarge"


def test_the_cpu_host_is_what_ec2_describes_and_where_it_is_offered() -> None:
    folder = resources.files("moto.ec2").joinpath("resources")
    types = json.loads(gzip.decompress(folder.joinpath("instance_types.json.gz").read_bytes()))
    described = types[CPU_HOST.name]
    assert CPU_HOST.vcpus == described["VCpuInfo"]["DefaultVCpus"]
    assert CPU_HOST.memory_mib == described["MemoryInfo"]["SizeInMiB"]
    (card,) = described["NetworkInfo"]["NetworkCards"]
    assert CPU_HOST.network_gbps == card["PeakBandwidthInGbps"]
    assert CPU_HOST.network_cards[0].max_interfaces == card["MaximumNetworkInterfaces"]
    assert CPU_HOST.ipv4_per_interface == described["NetworkInfo"]["Ipv4AddressesPerInterface"]
    offered = {
        row["Location"]
        for file in folder.joinpath("instance_type_offerings/availability-zone-id").iterdir()
        for row in json.loads(
            gzip.decompress(file.read_bytes()) if file.name.endswith("gz") else file.read_bytes()
        )
        if row["InstanceType"] == CPU_HOST.name
    }
    machine = get_instance_type("trn2.48xlarge")
    for zone in {zone for zones in OFFERED_ZONES.values() for zone in zones}:
        found = compile_type(machine, zone_id=zone, phase="compile", instance_type="cpu")
        assert (found is not None) == (zone in offered), zone
