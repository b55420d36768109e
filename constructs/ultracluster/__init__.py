"""CDK constructs for AWS Trainium UltraClusters.

`UltraCluster` composes all the others; each of them also stands alone.
"""

import importlib
from typing import TYPE_CHECKING

from ultracluster.block_lifecycle import BlockLifecycle
from ultracluster.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup
from ultracluster.checkpoint_bucket import CheckpointBucket
from ultracluster.cluster_network import ClusterNetwork
from ultracluster.cluster_placement import ClusterPlacement
from ultracluster.compile_cache import CompileCache
from ultracluster.compute_environment import ComputeEnvironment
from ultracluster.container_image import ContainerImage
from ultracluster.dataset_bucket import DatasetBucket
from ultracluster.fair_share import FairShare
from ultracluster.multi_node_job import MultiNodeJob
from ultracluster.node_group import NodeGroup
from ultracluster.node_metrics import NodeMetrics
from ultracluster.posix_compile_cache import PosixCompileCache
from ultracluster.shared_file_system import SharedFileSystem
from ultracluster.training_queue import TrainingQueue
from ultracluster.ultra_cluster import UltraCluster
from ultracluster.unreserved_capacity import OnDemandCapacity, SpotCapacity
from ultracluster.wait_limits import WaitLimits
from ultracluster_catalog.lustre_associations import DataRepositoryAssociation

if TYPE_CHECKING:
    from ultracluster.alarm_settings import AlarmSettings
    from ultracluster.bake_off import BakeOff, Contestant
    from ultracluster.capacity_guard import CapacityGuard
    from ultracluster.capacity_ledger import CapacityLedger
    from ultracluster.capacity_roles import CapacityPurchaseRole, CapacitySearchRole
    from ultracluster.cluster_alarms import ClusterAlarms
    from ultracluster.cluster_budget import ClusterBudget
    from ultracluster.cluster_dashboard import ClusterDashboard
    from ultracluster.cluster_key import ClusterKey
    from ultracluster.cluster_watch import ClusterWatch
    from ultracluster.fabric_gate import FabricGate
    from ultracluster.nag import acknowledge_nag
    from ultracluster.neuron_ami import NeuronAmi
    from ultracluster.precompile_job import PrecompileJob
    from ultracluster.quota_share import QuotaShare
    from ultracluster.regions_dashboard import RegionsDashboard
    from ultracluster.role_path import RolePath
    from ultracluster.sagemaker_training_queue import SageMakerTrainingQueue
    from ultracluster.single_node_job import SingleNodeJob
    from ultracluster.smoke_train import SmokeTrain
    from ultracluster.template_check import TemplateCheck
    from ultracluster.training_image_repository import PublicGalleryCache, TrainingImageRepository

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
    "ClusterKey",
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
    "RolePath",
    "SageMakerTrainingQueue",
    "SharedFileSystem",
    "SingleNodeJob",
    "SmokeTrain",
    "SpotCapacity",
    "TemplateCheck",
    "TrainingImageRepository",
    "TrainingQueue",
    "UltraCluster",
    "WaitLimits",
    "acknowledge_nag",
]

# What not every cluster has is imported when it is asked for: much of it needs modules of aws_cdk for further services,
# and to import those takes a twentieth of the time of a synthesis.
_LATER = {
    "AlarmSettings": "ultracluster.alarm_settings",
    "BakeOff": "ultracluster.bake_off",
    "CapacityGuard": "ultracluster.capacity_guard",
    "CapacityLedger": "ultracluster.capacity_ledger",
    "CapacityPurchaseRole": "ultracluster.capacity_roles",
    "CapacitySearchRole": "ultracluster.capacity_roles",
    "ClusterAlarms": "ultracluster.cluster_alarms",
    "ClusterBudget": "ultracluster.cluster_budget",
    "ClusterDashboard": "ultracluster.cluster_dashboard",
    "ClusterKey": "ultracluster.cluster_key",
    "ClusterWatch": "ultracluster.cluster_watch",
    "Contestant": "ultracluster.bake_off",
    "FabricGate": "ultracluster.fabric_gate",
    "NeuronAmi": "ultracluster.neuron_ami",
    "PrecompileJob": "ultracluster.precompile_job",
    "PublicGalleryCache": "ultracluster.training_image_repository",
    "QuotaShare": "ultracluster.quota_share",
    "RegionsDashboard": "ultracluster.regions_dashboard",
    "RolePath": "ultracluster.role_path",
    "SageMakerTrainingQueue": "ultracluster.sagemaker_training_queue",
    "SingleNodeJob": "ultracluster.single_node_job",
    "SmokeTrain": "ultracluster.smoke_train",
    "TemplateCheck": "ultracluster.template_check",
    "TrainingImageRepository": "ultracluster.training_image_repository",
    "acknowledge_nag": "ultracluster.nag",
}

if not TYPE_CHECKING:  # A type checker would take any name for one of ours.

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(_LATER[name]), name)
        return value
