"""P6: NVIDIA B200 and B300, for comparison."""

from functools import partial
from typing import Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, ON_DEMAND, SPOT, network_cards
from ultracluster_catalog.machines.machine import BlockQuota, MachineFamily, describe_machine

_p6 = partial(
    describe_machine,
    vcpus=192,
    chips=8,
    ipv4_per_interface=50,
    nvme=(8, 3800),
    purchase_options=(ON_DEMAND, SPOT, CAPACITY_BLOCK),
    efa_generation=4,
    nitro_generation=6,
    sagemaker_training=True,
    training_plans=True,
)

P6: Final = MachineFamily(
    machines=(
        _p6(
            "p6-b200.48xlarge",
            memory_gib=2048,
            accelerator="B200",
            device_memory_gib=179.06,
            cards=network_cards(8, max_interfaces=4, gbps=400),
            notes="Bandwidth of a card: DescribeInstanceTypes says 200 Gbps (what ENA reaches); the EC2 User Guide says "
            "400 for EFA, which alone adds up to the 3,200 of the instance.",
            zone_ids=(
                "aps1-az2 aps2-az2 eun1-az2 euw3-az1 use1-az6 use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 "
                "usw2-az4"
            ),
            block_regions=(
                "us-east-1 us-east-2 us-west-2 eu-north-1 eu-west-3 ap-south-1 ap-south-2 us-gov-east-1 "
                "us-gov-west-1"
            ),
            lustre_efa_interfaces=8,
        ),
        _p6(
            "p6-b300.48xlarge",
            memory_gib=4096,
            accelerator="B300",
            device_memory_gib=268.59,
            cards=(
                network_cards(1, max_interfaces=4, gbps=350, efa=False)
                + network_cards(16, max_interfaces=4, gbps=400, first=1)
            ),
            notes="Network card 0 takes no EFA; its 350 Gbps come on top of the 6,400 of the instance.",
            zone_ids=(
                "apne2-az3 aps2-az1 aps2-az3 apse3-az1 apse3-az2 apse3-az3 sae1-az2 sae1-az3 use1-az2 "
                "use1-az6 usw2-az1 usw2-az2"
            ),
            block_regions="us-east-1 us-west-2 ap-northeast-2 ap-south-2 ap-southeast-3 us-gov-east-1",
            block_local_zones="us-east-1-atl-2a",
            lustre_efa_interfaces=16,
        ),
    ),
    block_quotas={
        "p6-b200": BlockQuota(family="P6-B200", code="L-8B23CEF3", in_guide=False),
        "p6-b300": BlockQuota(family="P6-B300", code="L-9C38E5AB", in_guide=False),
    },
)
"""The family, with everything that is known about each of its instance types."""
