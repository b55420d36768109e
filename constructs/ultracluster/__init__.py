"""CDK constructs for AWS Trainium UltraClusters.

`UltraCluster` composes the others; each of them can also be used alone.
"""

import importlib
from typing import TYPE_CHECKING

import ultracluster._foundation.uncaught  # noqa: F401 - shows findings that end an app
from ultracluster.cluster.i_ultra_cluster import IUltraCluster
from ultracluster.cluster.ultra_cluster import UltraCluster
from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.job_options import GateOptions, JobOptions
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.nodes.cluster_placement import ClusterPlacement
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.operations.block_lifecycle import BlockLifecycle
from ultracluster.operations.job_resume import JobResume
from ultracluster.scheduling.compute_environment import ComputeEnvironment
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.dataset_bucket import DatasetBucket
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster.storage.shared_file_system import SharedFileSystem
from ultracluster_spec.alarms import Alarms
from ultracluster_spec.capacity import (
    Capacity,
    CapacityBlock,
    CapacityReservation,
    OnDemand,
    ReservationGroup,
    Spot,
)
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.job import Job, Mount, Permissions, Statement
from ultracluster_spec.lustre import Association
from ultracluster_spec.network import Network, NetworkInterface
from ultracluster_spec.neuron import Neuron
from ultracluster_spec.nodes import RootVolume
from ultracluster_spec.queue import Queue, WaitLimits
from ultracluster_spec.standing_order import StandingOrder

if TYPE_CHECKING:
    from ultracluster.compliance.cluster_key import ClusterKey
    from ultracluster.compliance.nag import acknowledge_nag
    from ultracluster.compliance.role_path import RolePath
    from ultracluster.compliance.template_check import TemplateCheck
    from ultracluster.dashboards.cluster_dashboard import ClusterDashboard
    from ultracluster.dashboards.regions_dashboard import RegionsDashboard
    from ultracluster.images.neuron_ami import NeuronAmi
    from ultracluster.images.training_image_repository import PullThroughCache, TrainingImageRepository
    from ultracluster.jobs.bake_off import BakeOff, Candidate
    from ultracluster.jobs.fabric_gate import FabricGate
    from ultracluster.jobs.precompile_job import PrecompileJob
    from ultracluster.jobs.single_node_job import SingleNodeJob
    from ultracluster.jobs.smoke_train import SmokeTrain
    from ultracluster.jobs.support_check import SupportCheck
    from ultracluster.operations.cluster_alarms import ClusterAlarms
    from ultracluster.operations.cluster_budget import ClusterBudget
    from ultracluster.operations.cluster_watch import ClusterWatch
    from ultracluster.purchasing.capacity_guard import CapacityGuard
    from ultracluster.purchasing.capacity_ledger import CapacityLedger
    from ultracluster.purchasing.capacity_roles import CapacityPurchaseRole, CapacitySearchRole
    from ultracluster.purchasing.capacity_watch import CapacityWatch
    from ultracluster.sagemaker.quota_share import QuotaShare
    from ultracluster.sagemaker.sagemaker_training_queue import SageMakerTrainingQueue
    from ultracluster.storage.s3_files_mount_target import S3FilesMountTarget

__all__ = [
    "Alarms",
    "Association",
    "BakeOff",
    "BlockLifecycle",
    "Candidate",
    "Capacity",
    "CapacityBlock",
    "CapacityGuard",
    "CapacityLedger",
    "CapacityPurchaseRole",
    "CapacityReservation",
    "CapacitySearchRole",
    "CapacityWatch",
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
    "DatasetBucket",
    "FabricGate",
    "FileSystem",
    "GateOptions",
    "ITrainingQueue",
    "IUltraCluster",
    "Job",
    "JobOptions",
    "JobResume",
    "Mount",
    "MultiNodeJob",
    "Network",
    "NetworkInterface",
    "Neuron",
    "NeuronAmi",
    "NodeGroup",
    "NodeMetrics",
    "OnDemand",
    "Permissions",
    "PosixCompileCache",
    "PrecompileJob",
    "PullThroughCache",
    "Queue",
    "QuotaShare",
    "RegionsDashboard",
    "ReservationGroup",
    "RolePath",
    "RootVolume",
    "S3FilesMountTarget",
    "SageMakerTrainingQueue",
    "SharedFileSystem",
    "SingleNodeJob",
    "SmokeTrain",
    "Spot",
    "StandingOrder",
    "Statement",
    "SupportCheck",
    "TemplateCheck",
    "TrainingImageRepository",
    "TrainingQueue",
    "UltraCluster",
    "WaitLimits",
    "acknowledge_nag",
]

# Imported on first access, because most of these need further modules of aws_cdk, whose import takes a twentieth of the time
# of a synthesis.
_LAZY_IMPORTS = {
    "BakeOff": "ultracluster.jobs.bake_off",
    "Candidate": "ultracluster.jobs.bake_off",
    "CapacityGuard": "ultracluster.purchasing.capacity_guard",
    "CapacityLedger": "ultracluster.purchasing.capacity_ledger",
    "CapacityPurchaseRole": "ultracluster.purchasing.capacity_roles",
    "CapacitySearchRole": "ultracluster.purchasing.capacity_roles",
    "CapacityWatch": "ultracluster.purchasing.capacity_watch",
    "ClusterAlarms": "ultracluster.operations.cluster_alarms",
    "ClusterBudget": "ultracluster.operations.cluster_budget",
    "ClusterDashboard": "ultracluster.dashboards.cluster_dashboard",
    "ClusterKey": "ultracluster.compliance.cluster_key",
    "ClusterWatch": "ultracluster.operations.cluster_watch",
    "FabricGate": "ultracluster.jobs.fabric_gate",
    "NeuronAmi": "ultracluster.images.neuron_ami",
    "PrecompileJob": "ultracluster.jobs.precompile_job",
    "PullThroughCache": "ultracluster.images.training_image_repository",
    "QuotaShare": "ultracluster.sagemaker.quota_share",
    "RegionsDashboard": "ultracluster.dashboards.regions_dashboard",
    "RolePath": "ultracluster.compliance.role_path",
    "S3FilesMountTarget": "ultracluster.storage.s3_files_mount_target",
    "SageMakerTrainingQueue": "ultracluster.sagemaker.sagemaker_training_queue",
    "SingleNodeJob": "ultracluster.jobs.single_node_job",
    "SmokeTrain": "ultracluster.jobs.smoke_train",
    "SupportCheck": "ultracluster.jobs.support_check",
    "TemplateCheck": "ultracluster.compliance.template_check",
    "TrainingImageRepository": "ultracluster.images.training_image_repository",
    "acknowledge_nag": "ultracluster.compliance.nag",
}

if not TYPE_CHECKING:  # At run time only, since type checkers would otherwise accept any name.

    def __getattr__(name: str) -> object:
        if name not in _LAZY_IMPORTS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(_LAZY_IMPORTS[name]), name)
        return value
