"""P5, P5e and P5en: NVIDIA H100 and H200, for comparison."""

from functools import partial
from typing import Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, ON_DEMAND, SPOT, network_cards
from ultracluster_catalog.machines.machine import BlockQuota, MachineFamily, describe_machine, peak_tflops

_HOPPER: Final = peak_tflops(
    1978.9,
    989.4,
    66.9,
    tf32=494.7,
    source="glennklockwood.com/garden/processors/h100, after NVIDIA; sparse figures left out",
)

_p5 = partial(
    describe_machine,
    purchase_options=(ON_DEMAND, SPOT, CAPACITY_BLOCK),
    sagemaker_training=True,
    training_plans=True,
)
_p5_48xlarge = partial(
    _p5,
    vcpus=192,
    memory_gib=2048,
    chips=8,
    ipv4_per_interface=50,
    nvme=(8, 3800),
    lustre_efa_interfaces=8,
)

P5: Final = MachineFamily(
    machines=(
        _p5(
            "p5.4xlarge",
            vcpus=16,
            memory_gib=256,
            chips=1,
            accelerator="H100",
            device_memory_gib=80,
            cards=network_cards(1, max_interfaces=4, gbps=100),
            ipv4_per_interface=30,
            nvme=(1, 3800),
            efa_generation=2,
            nitro_generation=4,
            zone_ids=(
                "apne1-az1 aps1-az1 aps1-az2 aps1-az3 apse2-az3 apse3-az1 eun1-az1 eun1-az2 eun1-az3 "
                "euw2-az1 euw2-az2 euw2-az3 sae1-az3 use1-az1 use1-az2 use1-az3 use1-az4 use1-az5 use1-az6 "
                "use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 usw2-az3 usw2-az4"
            ),
            block_regions=(
                "us-east-1 us-east-2 us-west-2 eu-west-2 ap-northeast-1 ap-south-1 ap-southeast-2 sa-east-1"
            ),
        ),
        _p5_48xlarge(
            "p5.48xlarge",
            accelerator="H100",
            device_memory_gib=80,
            cards=network_cards(32, max_interfaces=2, gbps=100),
            efa_generation=2,
            nitro_generation=4,
            zone_ids=(
                "apne1-az1 apne1-az4 apne2-az1 aps1-az1 aps1-az2 aps1-az3 apse2-az1 apse2-az2 apse2-az3 "
                "apse3-az1 cac1-az4 eun1-az1 eun1-az2 eun1-az3 euw2-az1 euw2-az2 euw2-az3 sae1-az3 use1-az1 "
                "use1-az2 use1-az3 use1-az4 use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 usw1-az1 usw1-az3 "
                "usw2-az1 usw2-az2 usw2-az3 usw2-az4"
            ),
            block_regions=(
                "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 ap-northeast-1 ap-south-1 "
                "ap-southeast-2 ap-southeast-3 sa-east-1"
            ),
            block_local_zones="us-east-1-atl-2a",
        ),
        _p5_48xlarge(
            "p5e.48xlarge",
            accelerator="H200",
            device_memory_gib=141,
            cards=network_cards(32, max_interfaces=2, gbps=100),
            efa_generation=2,
            nitro_generation=4,
            zone_ids=(
                "apse2-az3 apse3-az1 apse3-az3 eun1-az1 euw2-az2 sae1-az2 sae1-az3 use2-az1 use2-az2 "
                "use2-az3 usw2-az3"
            ),
            block_regions=(
                "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 ap-northeast-1 ap-south-1 "
                "ap-southeast-2 ap-southeast-3 sa-east-1"
            ),
            block_local_zones="us-west-2-phx-2a",
        ),
        _p5_48xlarge(
            "p5en.48xlarge",
            accelerator="H200",
            device_memory_gib=141,
            cards=network_cards(16, max_interfaces=4, gbps=200),
            efa_generation=3,
            nitro_generation=5,
            zone_ids=(
                "apne1-az4 apne2-az1 aps1-az1 aps1-az3 apse3-az2 apse3-az3 eun1-az1 eun1-az3 eus2-az1 "
                "eus2-az2 mec1-az1 mec1-az3 use1-az2 use1-az6 use2-az1 use2-az2 use2-az3 usw1-az3 usw2-az2 "
                "usw2-az3 usw2-az4"
            ),
            block_regions=(
                "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 eu-south-2 ap-northeast-1 "
                "ap-northeast-2 ap-south-1 ap-southeast-2 ap-southeast-3"
            ),
            block_local_zones="us-east-1-atl-2a",
        ),
    ),
    peaks={"H100": _HOPPER, "H200": _HOPPER},
    block_quotas={
        "p5": BlockQuota(family="P5", code="L-DA6814F2"),
        "p5e": BlockQuota(family="P5e", code="L-C45F30BC"),
        "p5en": BlockQuota(family="P5en", code="L-4F9BB70B"),
    },
)
"""The family, with everything that is known about each of its instance types."""
