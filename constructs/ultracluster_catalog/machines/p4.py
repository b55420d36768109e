"""P4d and P4de: NVIDIA A100, for comparison."""

from functools import partial
from typing import Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, ON_DEMAND, SPOT, network_cards
from ultracluster_catalog.machines.machine import BlockQuota, MachineFamily, describe_machine

_p4 = partial(
    describe_machine,
    vcpus=96,
    memory_gib=1152,
    chips=8,
    accelerator="A100",
    cards=network_cards(4, max_interfaces=15, gbps=100),
    ipv4_per_interface=50,
    nvme=(8, 1000),
    purchase_options=(ON_DEMAND, SPOT, CAPACITY_BLOCK),
    efa_generation=1,
    nitro_generation=3,
    sagemaker_training=True,
    training_plans=True,
)

P4: Final = MachineFamily(
    machines=(
        _p4(
            "p4d.24xlarge",
            device_memory_gib=40,
            zone_ids=(
                "apne1-az1 apne1-az4 apne2-az2 apne2-az4 aps1-az1 aps1-az2 aps1-az3 apse2-az1 apse2-az2 "
                "cac1-az1 cac1-az2 euc1-az1 euc1-az2 euc1-az3 eun1-az3 euw1-az2 euw2-az2 euw2-az3 sae1-az1 "
                "sae1-az3 use1-az1 use1-az2 use1-az4 use1-az6 use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 "
                "usw2-az3 usw2-az4"
            ),
            block_regions="us-east-1 us-east-2 us-west-2",
        ),
        _p4(
            "p4de.24xlarge",
            device_memory_gib=80,
            zone_ids=(
                "apne1-az1 apne1-az4 apse1-az2 apse1-az3 euc1-az1 euc1-az2 ilc1-az1 ilc1-az2 ilc1-az3 "
                "use1-az4 use1-az6 usw2-az1 usw2-az2 usw2-az3"
            ),
            block_regions="us-east-1 us-west-2",
        ),
    ),
    block_quotas={
        "p4d": BlockQuota(family="P4d", code="L-2C8F52B3"),
        "p4de": BlockQuota(family="P4de", code="L-CFF3E941", in_guide=False),
    },
)
"""The family, with everything that is known about each of its instance types."""
