"""CDK constructs for AWS Trainium UltraClusters.

`UltraCluster` composes all the others; each of them also stands alone.
"""

from ultracluster.bake_off import BakeOff, Contestant
from ultracluster.block_lifecycle import BlockLifecycle
from ultracluster.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup
from ultracluster.capacity_guard import CapacityGuard
from ultracluster.capacity_ledger import CapacityLedger
from ultracluster.capacity_roles import CapacityPurchaseRole, CapacitySearchRole
from ultracluster.checkpoint_bucket import CheckpointBucket
from ultracluster.cluster_alarms import AlarmSettings, ClusterAlarms
from ultracluster.cluster_budget import ClusterBudget
from ultracluster.cluster_dashboard import ClusterDashboard
from ultracluster.cluster_network import ClusterNetwork
from ultracluster.cluster_placement import ClusterPlacement
from ultracluster.cluster_watch import ClusterWatch
from ultracluster.compile_cache import CompileCache
from ultracluster.compute_environment import ComputeEnvironment
from ultracluster.container_image import ContainerImage
from ultracluster.dataset_bucket import DatasetBucket
from ultracluster.fabric_gate import FabricGate
from ultracluster.fair_share import FairShare
from ultracluster.multi_node_job import MultiNodeJob
from ultracluster.neuron_ami import NeuronAmi
from ultracluster.node_group import NodeGroup
from ultracluster.node_metrics import NodeMetrics
from ultracluster.posix_compile_cache import PosixCompileCache
from ultracluster.precompile_job import PrecompileJob
from ultracluster.regions_dashboard import RegionsDashboard
from ultracluster.sagemaker_training_queue import QuotaShare, SageMakerTrainingQueue
from ultracluster.shared_file_system import SharedFileSystem
from ultracluster.single_node_job import SingleNodeJob
from ultracluster.smoke_train import SmokeTrain
from ultracluster.training_image_repository import PublicGalleryCache, TrainingImageRepository
from ultracluster.training_queue import TrainingQueue
from ultracluster.ultra_cluster import UltraCluster
from ultracluster.unreserved_capacity import OnDemandCapacity, SpotCapacity
from ultracluster.wait_limits import WaitLimits
from ultracluster_catalog.lustre_associations import DataRepositoryAssociation

__all__ = [
    "AlarmSettings",
    "BakeOff",
    "BlockLifecycle",
    "Capacity",
    "CapacityBlock",
    "CapacityGuard",
    "CapacityLedger",
    "CapacityPurchaseRole",
    "CapacityReservation",
    "CapacitySearchRole",
    "CheckpointBucket",
    "ClusterAlarms",
    "ClusterBudget",
    "ClusterDashboard",
    "ClusterNetwork",
    "ClusterPlacement",
    "ClusterWatch",
    "CompileCache",
    "ComputeEnvironment",
    "ContainerImage",
    "Contestant",
    "DataRepositoryAssociation",
    "DatasetBucket",
    "FabricGate",
    "FairShare",
    "MultiNodeJob",
    "NeuronAmi",
    "NodeGroup",
    "NodeMetrics",
    "OnDemandCapacity",
    "PosixCompileCache",
    "PrecompileJob",
    "PublicGalleryCache",
    "QuotaShare",
    "RegionsDashboard",
    "ReservationGroup",
    "SageMakerTrainingQueue",
    "SharedFileSystem",
    "SingleNodeJob",
    "SmokeTrain",
    "SpotCapacity",
    "TrainingImageRepository",
    "TrainingQueue",
    "UltraCluster",
    "WaitLimits",
]
