"""Edits of the valid rollout that describe its machine."""

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import LoadedRollout

TYPE_LINE = "        instance_type: trn2.48xlarge\n"
NETWORK_LINE = "        network: {cidr: 10.0.0.0/16}\n"
OWN_TYPE = """\
        instance_type: trn9.48xlarge
        custom_instance_type:
          vcpus: 256
          memory_gib: 4096
          accelerator: Trainium9
          chips: 16
          device_memory_gib: 144
          cores_per_chip: 8
          logical_nc_config: 2
          network_cards: 16
          interfaces_per_card: 2
          gbps_per_card: 400
          ipv4_per_interface: 50
          nvme_disks: 4
          nvme_gb: 1900
          purchase_options: [capacity-block]
          nitro_generation: 6
          source: a press release
          dated: "2026-11-20"
"""


def cluster(loaded: LoadedRollout) -> Cluster:
    return loaded.config.waves[0].clusters[0]


def with_interfaces(*interfaces: str) -> str:
    listed = "".join(f"            - {{{each}}}\n" for each in interfaces)
    return f"        network:\n          network_interfaces:\n{listed}"
