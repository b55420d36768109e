"""CDK constructs for AWS Trainium UltraClusters.

`UltraCluster` composes all the others; each of them also stands alone.
"""

from ultracluster.block_lifecycle import BlockLifecycle
from ultracluster.capacity import CapacityBlock, CapacityReservation
from ultracluster.capacity_guard import CapacityGuard
from ultracluster.capacity_ledger import CapacityLedger
from ultracluster.capacity_roles import CapacityPurchaseRole, CapacitySearchRole
from ultracluster.checkpoint_bucket import CheckpointBucket
from ultracluster.cluster_network import ClusterNetwork
from ultracluster.cluster_placement import ClusterPlacement
from ultracluster.compile_cache import CompileCache
from ultracluster.multi_node_job import MultiNodeJob
from ultracluster.node_group import NodeGroup
from ultracluster.shared_file_system import SharedFileSystem
from ultracluster.training_queue import TrainingQueue
from ultracluster.ultra_cluster import UltraCluster

__all__ = [
    "BlockLifecycle",
    "CapacityBlock",
    "CapacityGuard",
    "CapacityLedger",
    "CapacityPurchaseRole",
    "CapacityReservation",
    "CapacitySearchRole",
    "CheckpointBucket",
    "ClusterNetwork",
    "ClusterPlacement",
    "CompileCache",
    "MultiNodeJob",
    "NodeGroup",
    "SharedFileSystem",
    "TrainingQueue",
    "UltraCluster",
]
