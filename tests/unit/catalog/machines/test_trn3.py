"""Trainium3 is known without being launchable, and one file makes it launchable."""

import subprocess
import sys

import pytest

from ultracluster_catalog.capacity.capacity_blocks import ULTRASERVER_DRAIN_BEFORE_END, drain_before_end
from ultracluster_catalog.lustre.lustre_figures import can_mount_over_efa
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES, announced_chip
from ultracluster_catalog.machines.peak_flops import node_peak_tflops
from ultracluster_catalog.neuron.compile_machines import compile_target
from ultracluster_spec.instance_type import (
    INSTANCE_TYPE,
    CustomInstanceType,
    check_instance_type,
    check_job_ultraservers,
)


def _described(**settings: object) -> InstanceType:
    figures: dict[str, object] = {
        "vcpus": 192,
        "memory_gib": 2048,
        "accelerator": "Trainium3",
        "chips": 16,
        "device_memory_gib": 144,
        "network_cards": 1,  # made up for this test: not published
        "interfaces_per_card": 2,
        "gbps_per_card": 100,
        "ipv4_per_interface": 50,
        "purchase_options": ("capacity-block",),
        "nitro_generation": 6,
        "source": "an agreement",
        "dated": "2026-11-26",
    }
    return CustomInstanceType(**(figures | settings)).entry("trn3.48xlarge")  # type: ignore[arg-type]


def test_no_type_of_it_is_published() -> None:
    assert [name for name in INSTANCE_TYPES if name.startswith("trn3")] == []


@pytest.mark.parametrize(
    "name", ["trn3.48xlarge", "trn3pd98.48xlarge", "ml.trn3.48xlarge", "Trn3", "Trainium3"]
)
def test_its_name_is_answered_with_what_is_known_and_what_to_do(name: str) -> None:
    (finding,) = INSTANCE_TYPE.check(name)
    assert "by 2026-11-26" in finding.remedy
    assert "8 NeuronCores and 144 GiB per chip, and UltraServers of 4 and 36 servers" in finding.remedy
    assert "custom_instance_type, with accelerator: Trainium3" in finding.remedy
    assert "\n" not in str(finding)


@pytest.mark.parametrize("name", ["trn2.48xlarge", "trn4.48xlarge", "p5.48xlarge", ""])
def test_other_names_are_not_its_own(name: str) -> None:
    assert announced_chip(name) is None


def test_a_description_of_it_needs_only_what_ec2_describes() -> None:
    own = _described()

    assert (own.neuron_cores, own.logical_neuron_cores) == (128, 64)
    assert compile_target(own) == "trn3"
    assert node_peak_tflops(own)["mxfp8"] * 4 == pytest.approx(
        161_088, rel=1e-4
    )  # of an UltraServer of 64 chips
    assert not can_mount_over_efa(own)  # no source says so
    assert _described(logical_nc_config=1).logical_neuron_cores == 128


@pytest.mark.parametrize(("servers", "allowed"), [(1, True), (4, True), (36, True), (2, False), (35, False)])
def test_its_ultraservers_have_4_or_36_servers(servers: int, *, allowed: bool) -> None:
    own = _described(instances_per_ultraserver=servers)

    assert (check_instance_type(own) == []) == allowed
    assert (drain_before_end(own) == ULTRASERVER_DRAIN_BEFORE_END) == (servers > 1)


@pytest.mark.parametrize(("nodes", "joined"), [(1, True), (2, True), (4, True), (8, False), (36, True)])
def test_the_nodes_of_a_job_are_joined_as_the_operator_of_neuron_does(nodes: int, *, joined: bool) -> None:
    found = check_job_ultraservers(_described(instances_per_ultraserver=36), nodes)
    assert (found == []) == joined
    assert all("1, 2, 4, or a multiple of 36" in finding.allowed for finding in found)


_ON_THE_DAY = """
from dataclasses import replace
from ultracluster_catalog.machines import trn2, trn3
published = trn2.describe_machine(
    "trn3.48xlarge", vcpus=192, memory_gib=2048, accelerator="Trainium3", chips=16, device_memory_gib=144,
    cores_per_chip=8, logical_nc_config=2, cards=trn2.network_cards(16, max_interfaces=2, gbps=200),
    ipv4_per_interface=50, purchase_options=("capacity-block",), efa_generation=4, nitro_generation=6,
    ultraserver=("u-trn3x64", 4), zone_ids="use2-az3", sagemaker_training=True,
)
quota = trn2.BlockQuota(family="Trn3", code="L-00000000")
trn3.TRN3 = replace(trn3.TRN3, machines=(published,), block_quotas={"trn3": quota},
                    ultraserver_regions={"u-trn3x64": ("us-east-2",)})
from ultracluster_catalog.capacity.capacity_blocks import block_regions
from ultracluster_catalog.limits.quotas import capacity_block_quota
from ultracluster_catalog.limits.sagemaker import SAGEMAKER_TRAINING_TYPES
from ultracluster_catalog.places.zones import offered_zones
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.instance_type import _DescribedType
own = get_instance_type("trn3.48xlarge")
assert offered_zones(own.name) == ("use2-az3",)
assert block_regions(own.name) == ("us-east-2",)
assert capacity_block_quota(own).code == "L-00000000"
assert "ml.trn3.48xlarge" in SAGEMAKER_TRAINING_TYPES
assert own.name in _DescribedType().json_schema["anyOf"][0]["enum"]
from ultracluster_catalog.machines.instance_types import announced_chip
from ultracluster_spec.instance_type import INSTANCE_TYPE
assert INSTANCE_TYPE.check("trn3.48xlarge") == []
from ultracluster_cli.capacity.options import searched_regions
assert searched_regions("all", instance_type=None, ultraserver_type="u-trn3x64") == ("us-east-2",)
print("launchable")
"""


def test_one_file_makes_it_launchable() -> None:
    done = subprocess.run([sys.executable, "-c", _ON_THE_DAY], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("launchable\n", "")
