import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ultracluster_catalog.limits.sagemaker import SAGEMAKER_TRAINING_TYPES, TRAINING_PLAN_TYPES
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.places.zones import offered_zones, region_of_zone_id
from ultracluster_spec.instance_type import get_instance_type

_FAMILIES = re.compile(r"(trn[0-9]|inf[2-9]|p[4-9])[a-z0-9-]*\..*")

# What a source has and the catalogue lacks on purpose.
_LEFT_OUT = {"p6e-gb200.36xlarge"}  # Arm hosts, sold by the UltraServer only

# cfn-lint knows Regions by their price lists: those that it has beside ours (+), and those that it lacks (-).
_REGIONS_OF_CFN_LINT = {
    "p4d.24xlarge": "+ap-southeast-1 +cn-northwest-1 +us-gov-west-1",
    "p5.4xlarge": "+us-gov-west-1",
    "p5.48xlarge": "+us-gov-west-1",
    "p5e.48xlarge": "-ap-southeast-2 -ap-southeast-3 -eu-north-1 -eu-west-2 -sa-east-1 -us-west-2",
    "p5en.48xlarge": "+us-gov-west-1",
    "p6-b200.48xlarge": "+us-gov-east-1 +us-gov-west-1",
    "p6-b300.48xlarge": "+eu-west-2 +us-gov-east-1",
    "trn1.32xlarge": "-ap-south-1 -ap-southeast-2 -ap-southeast-4",
    "trn2.3xlarge": "-ap-south-2 -ap-southeast-4 -sa-east-1",
    "trn2u.48xlarge": "-ap-south-2",
}


def _chip(described: Mapping[str, Any]) -> Mapping[str, Any]:
    neuron, gpu = described.get("NeuronInfo"), described.get("GpuInfo")
    chips = neuron["NeuronDevices"] if neuron else gpu["Gpus"] if gpu else [{}]
    (chip,) = chips
    assert isinstance(chip, dict)
    return chip


def _device_memory_gib(described: Mapping[str, Any]) -> float | None:
    memory = _chip(described).get("MemoryInfo")
    return round(memory["SizeInMiB"] / 1024, 2) if memory else None


def _neuron_cores(described: Mapping[str, Any]) -> int:
    chip = _chip(described)
    return chip["Count"] * chip["CoreInfo"]["Count"] if "CoreInfo" in chip else 0


def _gbps(described: Mapping[str, Any]) -> float:
    text = described["NetworkInfo"]["NetworkPerformance"]
    match = re.fullmatch(r"(?:(\d+)x |Up to )?([\d.]+) Gigabit", text)
    assert match, text
    return int(match[1] or 1) * float(match[2])


def _disk(described: Mapping[str, Any]) -> tuple[int, int]:
    storage = described.get("InstanceStorageInfo")
    if storage is None:
        return 0, 0
    (disk,) = storage["Disks"]
    return disk["Count"], disk["SizeInGB"]


def _cards(described: Mapping[str, Any]) -> list[tuple[int, int, bool]]:
    return [
        (card["NetworkCardIndex"], card["MaximumNetworkInterfaces"], "efa" in card["InterfaceTypes"])
        for card in described["NetworkInfo"]["NetworkCards"]
    ]


_FIELDS: dict[str, tuple[Callable[[InstanceType], Any], Callable[[Mapping[str, Any]], Any]]] = {
    "name": (lambda ours: ours.name, lambda theirs: theirs["InstanceType"]),
    "vcpus": (lambda ours: ours.vcpus, lambda theirs: theirs["VCpuInfo"]["DefaultVCpus"]),
    "memory_mib": (lambda ours: ours.memory_mib, lambda theirs: theirs["MemoryInfo"]["SizeInMiB"]),
    "accelerator": (lambda ours: ours.accelerator, lambda theirs: _chip(theirs).get("Name")),
    "chips": (lambda ours: ours.chips, lambda theirs: _chip(theirs).get("Count")),
    "device_memory_gib": (lambda ours: ours.device_memory_gib, _device_memory_gib),
    "neuron_cores": (lambda ours: ours.neuron_cores, _neuron_cores),
    "network_cards": (
        lambda ours: [(card.index, card.max_interfaces, card.efa) for card in ours.network_cards],
        _cards,
    ),
    "network_card_gbps": (
        lambda ours: [card.gbps for card in ours.network_cards],
        lambda theirs: [card["PeakBandwidthInGbps"] for card in theirs["NetworkInfo"]["NetworkCards"]],
    ),
    "interfaces_in_all": (
        lambda ours: sum(card.max_interfaces for card in ours.network_cards),
        lambda theirs: theirs["NetworkInfo"]["MaximumNetworkInterfaces"],
    ),
    "efa_interfaces": (
        lambda ours: ours.efa_interfaces,
        lambda theirs: theirs["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
    ),
    "efa_supported": (
        lambda ours: ours.efa_generation is not None,
        lambda theirs: theirs["NetworkInfo"]["EfaSupported"],
    ),
    "ipv4_per_interface": (
        lambda ours: ours.ipv4_per_interface,
        lambda theirs: theirs["NetworkInfo"]["Ipv4AddressesPerInterface"],
    ),
    "network_gbps": (lambda ours: ours.network_gbps, _gbps),
    "nvme": (lambda ours: (ours.nvme_count, ours.nvme_gb), _disk),
    "purchase_options": (
        lambda ours: ours.purchase_options,
        lambda theirs: frozenset(theirs["SupportedUsageClasses"]),
    ),
}


_TRN2_MEMORY = "the Neuron documentation and measurements say 96 GiB per chip"


_TRN2U_NULL = "the API knows no accelerators of trn2u; the Neuron documentation says they are those of trn2"


# Where the API is wrong: what it says, and why we do not.
_EXCEPTIONS: dict[tuple[str, str], tuple[Any, str]] = {
    ("trn2.3xlarge", "device_memory_gib"): (512, _TRN2_MEMORY),
    ("trn2.48xlarge", "device_memory_gib"): (512, _TRN2_MEMORY),
    ("trn2.3xlarge", "network_gbps"): (
        200,
        "its only network card has 50 by the same API: the lower one holds",
    ),
    ("trn2u.48xlarge", "accelerator"): (None, _TRN2U_NULL),
    ("trn2u.48xlarge", "chips"): (None, _TRN2U_NULL),
    ("trn2u.48xlarge", "device_memory_gib"): (None, _TRN2U_NULL),
    ("trn2u.48xlarge", "neuron_cores"): (0, _TRN2U_NULL),
    ("p6-b200.48xlarge", "network_card_gbps"): ([200] * 8, "that is ENA; with EFA the guide says 400"),
}


@pytest.mark.parametrize("field", _FIELDS)
def test_agrees_with_what_ec2_describes(field: str, described_types: Mapping[str, Any]) -> None:
    ours, theirs = _FIELDS[field]
    known = [row for row in INSTANCE_TYPES.values() if (row.name, field) not in _EXCEPTIONS]

    assert known
    assert {row.name: ours(row) for row in known} == {
        row.name: theirs(described_types[row.name]) for row in known
    }


@pytest.mark.parametrize(("name", "field"), _EXCEPTIONS)
def test_each_exception_still_matches_ec2_and_is_still_needed(
    name: str, field: str, described_types: Mapping[str, Any]
) -> None:
    ours, theirs = _FIELDS[field]
    recorded, _reason = _EXCEPTIONS[name, field]

    assert theirs(described_types[name]) == recorded
    assert ours(INSTANCE_TYPES[name]) != recorded


def test_knows_every_type_of_its_families(described_types: Mapping[str, Any]) -> None:
    assert set(INSTANCE_TYPES) == {name for name in described_types if _FAMILIES.fullmatch(name)}


def test_knows_every_type_of_the_ec2_api_and_no_other(
    botocore_shapes: Callable[[str], Mapping[str, Any]],
) -> None:
    theirs = botocore_shapes("ec2/2016-11-15")["InstanceType"]["enum"]
    assert {name for name in theirs if _FAMILIES.fullmatch(name)} == set(INSTANCE_TYPES) | _LEFT_OUT


@pytest.mark.parametrize(
    ("shape", "ours"),
    [
        ("TrainingInstanceType", SAGEMAKER_TRAINING_TYPES),
        ("ReservedCapacityInstanceType", TRAINING_PLAN_TYPES),
    ],
)
def test_knows_every_type_that_sagemaker_trains_on_or_reserves(
    shape: str, ours: tuple[str, ...], botocore_shapes: Callable[[str], Mapping[str, Any]]
) -> None:
    theirs = botocore_shapes("sagemaker/2017-07-24")[shape]["enum"]
    known = {name for name in theirs if _FAMILIES.fullmatch(name.removeprefix("ml."))}
    assert known - {f"ml.{name}" for name in _LEFT_OUT} == set(ours)


def test_differs_from_cfn_lint_only_where_it_did_before(regions_of_cfn_lint: Mapping[str, set[str]]) -> None:
    theirs = {name: regions for name, regions in regions_of_cfn_lint.items() if _FAMILIES.fullmatch(name)}
    assert set(theirs) <= set(INSTANCE_TYPES)
    differences = {
        name: " ".join(
            [
                *(f"+{region}" for region in sorted(theirs.get(name, set()) - ours)),
                *(f"-{region}" for region in sorted(ours - theirs.get(name, set()))),
            ]
        )
        for name in INSTANCE_TYPES
        for ours in [set(map(region_of_zone_id, offered_zones(name)))]
    }
    assert {name: text for name, text in differences.items() if text} == _REGIONS_OF_CFN_LINT


def test_a_card_with_efa_takes_efa_only_too(described_types: Mapping[str, Any]) -> None:
    for name in INSTANCE_TYPES:
        for card in described_types[name]["NetworkInfo"]["NetworkCards"]:
            assert ("efa" in card["InterfaceTypes"]) == ("efa-only" in card["InterfaceTypes"])


def test_the_primary_interface_is_on_card_zero(described_types: Mapping[str, Any]) -> None:
    assert {described_types[name]["NetworkInfo"]["DefaultNetworkCardIndex"] for name in INSTANCE_TYPES} == {0}


def test_trn2u_is_a_quarter_of_an_ultraserver_of_64_chips() -> None:
    trn2, trn2u = get_instance_type("trn2.48xlarge"), get_instance_type("trn2u.48xlarge")

    assert (trn2u.ultraserver_type, trn2u.instances_per_ultraserver * trn2u.chips) == ("u-trn2x64", 64)
    assert (trn2u.chips, trn2u.neuron_cores, trn2u.network_cards) == (
        trn2.chips,
        trn2.neuron_cores,
        trn2.network_cards,
    )


def test_only_trainium2_groups_its_cores() -> None:
    for row in INSTANCE_TYPES.values():
        divisor = 2 if row.accelerator == "Trainium2" else 1
        assert row.logical_neuron_cores * divisor == row.neuron_cores


def test_a_container_gets_less_than_the_memory_and_only_one_figure_is_measured() -> None:
    assert all(0 < row.container_memory_mib < row.memory_mib for row in INSTANCE_TYPES.values())
    measured = {
        name: row.container_memory_mib
        for name, row in INSTANCE_TYPES.items()
        if row.container_memory_source == "measured"
    }
    assert measured == {"trn1.32xlarge": 507_821}
    assert get_instance_type("trn2.48xlarge").container_memory_mib == 2_013_265  # 0.96 of 2 TiB, rounded down


def test_the_cards_add_up_to_the_bandwidth_of_the_instance() -> None:
    for name, row in INSTANCE_TYPES.items():
        beside_efa = sum(card.gbps for card in row.network_cards if not card.efa and row.efa_interfaces)
        assert sum(card.gbps for card in row.network_cards) - beside_efa == row.network_gbps, name


def test_has_the_nitro_generations_of_the_instance_types_guide() -> None:
    generations = {
        3: {"p4d", "p4de"},
        4: {"inf2", "p5", "p5e", "trn1", "trn1n"},
        5: {"p5en", "trn2", "trn2u"},
        6: {"p6-b200", "p6-b300"},
    }
    for name, row in INSTANCE_TYPES.items():
        assert name.split(".")[0] in generations[row.nitro_generation]


def test_nothing_without_efa_has_a_generation_of_it() -> None:
    for row in INSTANCE_TYPES.values():
        assert (row.efa_generation is None) == (row.efa_interfaces == 0)
        # Nitro v3 came with EFA v1, v4 with v2, and so on (EC2 User Guide, EFA, supported instance types).
        assert row.efa_generation in {None, row.nitro_generation - 2}
