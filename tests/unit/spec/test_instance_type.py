"""The machine of a cluster in the rollout file: types of one's own, interfaces one by one, placement, scratch."""

import dataclasses
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from tests.unit.stacks.config.machine_edits import OWN_TYPE, TYPE_LINE, cluster

from ultracluster_catalog.machines.instance_type import (
    CAPACITY_BLOCK,
    InstanceType,
    describe_instance_type,
    network_cards,
)
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.neuron.compile_machines import CPU_HOST
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.instance_type import (
    check_figures_are_sourced,
    check_instance_type,
    check_job_ultraservers,
    check_scratch,
    check_whole_ultraservers,
    get_instance_type,
)
from ultracluster_stacks.config import LoadedRollout

Load = Callable[..., LoadedRollout]
_CLUSTER = "waves[0].clusters[0]"


def test_a_cluster_describes_a_type_that_the_catalogue_does_not_know(load: Load) -> None:
    loaded = load((TYPE_LINE, OWN_TYPE))
    node_type = cluster(loaded).node_type
    assert (node_type.name, node_type.vcpus, node_type.efa_interfaces) == ("trn9.48xlarge", 256, 16)
    assert (node_type.logical_neuron_cores, node_type.network_gbps) == (64, 6400)
    (warning,) = loaded.warnings
    assert (warning.code, warning.path) == ("UC4024", f"{_CLUSTER}.custom_instance_type")
    assert warning.location == "rollout.yaml:12"


def test_own_figures_may_come_from_the_defaults(load: Load) -> None:
    own = OWN_TYPE.replace("        instance_type: trn9.48xlarge\n", "").replace("\n      ", "\n")[6:]
    loaded = load((TYPE_LINE, TYPE_LINE.replace("trn2", "trn9")), ("defaults:\n", f"defaults:\n{own}"))
    assert cluster(loaded).node_type.accelerator == "Trainium9"


def test_refuses_an_unknown_type_and_names_the_nearest() -> None:
    with pytest.raises(FindingsError) as caught:
        get_instance_type("trn2.48xlage")

    (finding,) = caught.value.findings
    assert finding.code == "UC4001"
    assert "'trn2.48xlage'" in finding.problem
    assert "trn1n.32xlarge" in finding.allowed
    assert finding.remedy == "Did you mean 'trn2.48xlarge'?"


def _own(**changes: Any) -> InstanceType:
    """A machine of tomorrow, as a user describes it."""
    return describe_instance_type(
        "trn9.48xlarge",
        **{
            "vcpus": 192,
            "memory_gib": 2048,
            "accelerator": "Trainium9",
            "chips": 16,
            "device_memory_gib": 144,
            "cores_per_chip": 8,
            "logical_nc_config": 2,
            "cards": network_cards(16, max_interfaces=2, gbps=400),
            "ipv4_per_interface": 50,
            "purchase_options": [CAPACITY_BLOCK],
            "nitro_generation": 6,
            "source": "a press release",
            "dated": date(2026, 11, 20),
        }
        | changes,
    )


def test_the_bandwidth_of_a_type_is_that_of_its_cards_with_efa_or_of_all_without_any() -> None:
    plain, efa = (
        network_cards(1, max_interfaces=2, gbps=100, efa=False),
        network_cards(16, max_interfaces=2, gbps=400, first=1),
    )

    assert _own(cards=[*plain, *efa]).network_gbps == 6400
    assert _own(cards=plain).network_gbps == 100


def test_a_type_that_a_user_describes_is_taken_as_it_is_and_warned_of() -> None:
    own = _own()

    assert get_instance_type(own) is own
    assert (own.efa_interfaces, own.network_gbps, own.logical_neuron_cores) == (16, 6400, 64)
    (finding,) = check_figures_are_sourced(own)
    assert finding.code == "UC4024"
    assert "a press release" in finding.problem


def test_a_type_of_the_catalogue_has_a_source_unless_a_user_changes_it() -> None:
    trn2 = get_instance_type("trn2.48xlarge")

    assert check_figures_are_sourced(trn2) == []
    assert check_figures_are_sourced(dataclasses.replace(trn2, container_memory_mib=1_900_000)) != []


def test_only_the_host_of_the_catalogue_has_no_neuron_devices() -> None:
    assert get_instance_type(CPU_HOST) is CPU_HOST
    with pytest.raises(FindingsError, match=r"UC4025: .*memory_mib or chips below 1"):
        get_instance_type(dataclasses.replace(CPU_HOST, vcpus=48))


def test_every_type_of_the_catalogue_could_have_been_described() -> None:
    assert [check_instance_type(row) for row in INSTANCE_TYPES.values()] == [[]] * len(INSTANCE_TYPES)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"name": "trn9"}, "the name 'trn9'"),
        ({"vcpus": 0}, "below 1"),
        ({"container_memory_mib": 2048 * 1024 + 1}, "more memory"),
        ({"network_cards": ()}, "numbered from 0"),
        ({"network_cards": network_cards(16, max_interfaces=0, gbps=1)}, "without a slot"),
        ({"efa_interfaces": 15}, "efa_interfaces"),
        ({"purchase_options": frozenset({"lease"})}, "purchase_options ['lease']"),
        ({"logical_neuron_cores": 129}, "logical NeuronCores"),
        ({"instances_per_ultraserver": 0}, "instances_per_ultraserver"),
    ],
)
def test_refuses_a_type_that_contradicts_itself(changes: dict[str, Any], part: str) -> None:
    with pytest.raises(FindingsError, match="UC4025") as caught:
        get_instance_type(dataclasses.replace(_own(), **changes))

    assert any(part in finding.problem for finding in caught.value.findings)


TRN2 = get_instance_type("trn2.48xlarge")


def test_refuses_a_path_above_the_file_system() -> None:
    (finding,) = check_scratch(TRN2, "/data", mount_path="/data/fsx")
    assert "overlaps /data/fsx" in finding.problem


TRN2U = get_instance_type("trn2u.48xlarge")


@pytest.mark.parametrize("nodes", [1, 2, 4, 8, 64])
def test_a_job_has_a_part_of_an_ultraserver_or_whole_ones(nodes: int) -> None:
    assert check_job_ultraservers(TRN2U, nodes) == []


@pytest.mark.parametrize("nodes", [3, 5, 6, 63])
def test_refuses_nodes_that_cannot_be_joined(nodes: int) -> None:
    (finding,) = check_job_ultraservers(TRN2U, nodes)
    assert (finding.code, finding.allowed) == ("UC4028", "1, 2, or a multiple of 4")


@pytest.mark.parametrize(("nodes", "warns"), [(1, True), (2, True), (4, False), (6, True), (8, False)])
def test_warns_of_a_part_that_is_paid_and_not_used(nodes: int, warns: bool) -> None:
    assert [finding.code for finding in check_whole_ultraservers(TRN2U, nodes)] == ["UC4029"] * warns


def test_other_types_have_as_many_nodes_as_they_like() -> None:
    assert check_job_ultraservers(TRN2, 3) == check_whole_ultraservers(TRN2, 3) == []
