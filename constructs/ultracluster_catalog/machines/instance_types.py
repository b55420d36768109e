"""The accelerated EC2 instance types that this project knows, by name.

The figures come from EC2's own DescribeInstanceTypes, except where that API is wrong or silent; such a row says
so in `InstanceType.notes`. A unit test holds every field against the copy of that API's answer that moto ships.
"""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Any, Final

from ultracluster_catalog.machines.instance_type import (
    CAPACITY_BLOCK,
    ON_DEMAND,
    SPOT,
    InstanceType,
    describe_instance_type,
    network_cards,
)

__all__ = ["INSTANCE_TYPES"]


_SOURCE: Final = (
    "EC2 DescribeInstanceTypes (copy in moto 5.2.5), EC2 User Guide (EFA, network cards), EC2 instance types guide "
    "(Nitro generations), Neuron documentation 2.32 (Trainium architecture)"
)
_DATED: Final = date(2026, 8, 21)

_EVERY_OPTION: Final = (ON_DEMAND, SPOT, CAPACITY_BLOCK)
_NO_BLOCK: Final = (ON_DEMAND, SPOT)

_TRN2_NOTES: Final = (
    "Device memory: DescribeInstanceTypes says 512 GiB per chip; the Neuron documentation and field measurements "
    "say 96. EC2 lists the usage class on-demand, but no on-demand price is published: plan with a Capacity Block."
)


def _row(
    name: str,
    *,
    chip: tuple[int, str, float],
    ipv4: int,
    gbps: float,
    nitro: int,
    sold: tuple[str, ...],
    **rest: Any,
) -> InstanceType:
    """A row with the source and day that all of them have."""
    count, accelerator, device_memory_gib = chip
    return describe_instance_type(
        name,
        chips=count,
        accelerator=accelerator,
        device_memory_gib=device_memory_gib,
        ipv4_per_interface=ipv4,
        network_gbps=gbps,
        nitro_generation=nitro,
        purchase_options=sold,
        source=_SOURCE,
        dated=_DATED,
        **rest,
    )


_ROWS: Final = (
    _row(
        "trn1.2xlarge",
        vcpus=8,
        memory_gib=32,
        chip=(1, "Trainium", 32),
        cores_per_chip=2,
        cards=network_cards(1, max_interfaces=4, gbps=12.5, efa=False),
        ipv4=15,
        gbps=12.5,
        nvme=(1, 474),
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _row(
        "trn1.32xlarge",
        vcpus=128,
        memory_gib=512,
        chip=(16, "Trainium", 32),
        cores_per_chip=2,
        cards=network_cards(8, max_interfaces=5, gbps=100),
        ipv4=50,
        gbps=800,
        nvme=(4, 1900),
        sold=_EVERY_OPTION,
        efa_generation=2,
        nitro=4,
        measured_container_memory_mib=507_821,
    ),
    _row(
        "trn1n.32xlarge",
        vcpus=128,
        memory_gib=512,
        chip=(16, "Trainium", 32),
        cores_per_chip=2,
        cards=network_cards(16, max_interfaces=5, gbps=100),
        ipv4=50,
        gbps=1600,
        nvme=(4, 1900),
        sold=_NO_BLOCK,
        efa_generation=2,
        nitro=4,
    ),
    _row(
        "trn2.3xlarge",
        vcpus=12,
        memory_gib=128,
        chip=(1, "Trainium2", 96),
        cores_per_chip=8,
        logical_nc_config=2,
        cards=network_cards(1, max_interfaces=2, gbps=50),
        ipv4=15,
        gbps=50,
        nvme=(1, 470),
        sold=_EVERY_OPTION,
        efa_generation=3,
        nitro=5,
        notes=_TRN2_NOTES
        + " Bandwidth: DescribeInstanceTypes says 50 Gbps for its only network card and 200 for the instance; "
        "the lower figure is used, so that nothing is promised that the card may not hold.",
    ),
    _row(
        "trn2.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chip=(16, "Trainium2", 96),
        cores_per_chip=8,
        logical_nc_config=2,
        cards=network_cards(16, max_interfaces=2, gbps=200),
        ipv4=50,
        gbps=3200,
        nvme=(4, 1900),
        sold=_EVERY_OPTION,
        efa_generation=3,
        nitro=5,
        notes=_TRN2_NOTES,
    ),
    _row(
        "trn2u.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chip=(16, "Trainium2", 96),
        cores_per_chip=8,
        logical_nc_config=2,
        cards=network_cards(16, max_interfaces=2, gbps=200),
        ipv4=50,
        gbps=3200,
        nvme=(4, 1900),
        sold=(ON_DEMAND, CAPACITY_BLOCK),
        efa_generation=3,
        nitro=5,
        ultraserver=("u-trn2x64", 4),
        notes="Chips: DescribeInstanceTypes lists none; the Neuron documentation says 16, as in trn2.48xlarge. "
        "A Capacity Block is bought by UltraServer type and count: field reports of 2026-10-03 show that the "
        "instance type is refused. No on-demand price is published.",
    ),
    _row(
        "inf2.xlarge",
        vcpus=4,
        memory_gib=16,
        chip=(1, "Inferentia2", 32),
        cores_per_chip=2,
        cards=network_cards(1, max_interfaces=4, gbps=15, efa=False),
        ipv4=15,
        gbps=15,
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _row(
        "inf2.8xlarge",
        vcpus=32,
        memory_gib=128,
        chip=(1, "Inferentia2", 32),
        cores_per_chip=2,
        cards=network_cards(1, max_interfaces=8, gbps=25, efa=False),
        ipv4=30,
        gbps=25,
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _row(
        "inf2.24xlarge",
        vcpus=96,
        memory_gib=384,
        chip=(6, "Inferentia2", 32),
        cores_per_chip=2,
        cards=network_cards(1, max_interfaces=15, gbps=50, efa=False),
        ipv4=50,
        gbps=50,
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _row(
        "inf2.48xlarge",
        vcpus=192,
        memory_gib=768,
        chip=(12, "Inferentia2", 32),
        cores_per_chip=2,
        cards=network_cards(1, max_interfaces=15, gbps=100, efa=False),
        ipv4=50,
        gbps=100,
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _row(
        "p4d.24xlarge",
        vcpus=96,
        memory_gib=1152,
        chip=(8, "A100", 40),
        cards=network_cards(4, max_interfaces=15, gbps=100),
        ipv4=50,
        gbps=400,
        nvme=(8, 1000),
        sold=_EVERY_OPTION,
        efa_generation=1,
        nitro=3,
    ),
    _row(
        "p4de.24xlarge",
        vcpus=96,
        memory_gib=1152,
        chip=(8, "A100", 80),
        cards=network_cards(4, max_interfaces=15, gbps=100),
        ipv4=50,
        gbps=400,
        nvme=(8, 1000),
        sold=_EVERY_OPTION,
        efa_generation=1,
        nitro=3,
    ),
    _row(
        "p5.4xlarge",
        vcpus=16,
        memory_gib=256,
        chip=(1, "H100", 80),
        cards=network_cards(1, max_interfaces=4, gbps=100),
        ipv4=30,
        gbps=100,
        nvme=(1, 3800),
        sold=_EVERY_OPTION,
        efa_generation=2,
        nitro=4,
    ),
    _row(
        "p5.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chip=(8, "H100", 80),
        cards=network_cards(32, max_interfaces=2, gbps=100),
        ipv4=50,
        gbps=3200,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=2,
        nitro=4,
    ),
    _row(
        "p5e.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chip=(8, "H200", 141),
        cards=network_cards(32, max_interfaces=2, gbps=100),
        ipv4=50,
        gbps=3200,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=2,
        nitro=4,
    ),
    _row(
        "p5en.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chip=(8, "H200", 141),
        cards=network_cards(16, max_interfaces=4, gbps=200),
        ipv4=50,
        gbps=3200,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=3,
        nitro=5,
    ),
    _row(
        "p6-b200.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chip=(8, "B200", 179.06),
        cards=network_cards(8, max_interfaces=4, gbps=400),
        ipv4=50,
        gbps=3200,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=4,
        nitro=6,
        notes="Bandwidth of a card: DescribeInstanceTypes says 200 Gbps (what ENA reaches); the EC2 User Guide says "
        "400 for EFA, which alone adds up to the 3,200 of the instance.",
    ),
    _row(
        "p6-b300.48xlarge",
        vcpus=192,
        memory_gib=4096,
        chip=(8, "B300", 268.59),
        cards=network_cards(1, max_interfaces=4, gbps=350, efa=False)
        + network_cards(16, max_interfaces=4, gbps=400, first=1),
        ipv4=50,
        gbps=6400,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=4,
        nitro=6,
        notes="Network card 0 takes no EFA; its 350 Gbps come on top of the 6,400 of the instance.",
    ),
)

INSTANCE_TYPES: Final[Mapping[str, InstanceType]] = MappingProxyType({row.name: row for row in _ROWS})
"""Every instance type that the catalogue knows, by name."""
