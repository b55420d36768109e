"""The rollout file: its models, and `load_rollout`, which reads and checks it."""

from ultracluster_stacks.config.association import AssociationConfig
from ultracluster_stacks.config.buckets import CheckpointsConfig, DatasetConfig
from ultracluster_stacks.config.budget import BudgetConfig
from ultracluster_stacks.config.capacity import CapacityConfig, FurtherCapacityConfig, most_nodes, sources
from ultracluster_stacks.config.cluster import ClusterConfig
from ultracluster_stacks.config.compile_cache import CompileCacheConfig
from ultracluster_stacks.config.file_system import FileSystemConfig
from ultracluster_stacks.config.job import JobConfig
from ultracluster_stacks.config.loader import LoadedRollout, load_rollout
from ultracluster_stacks.config.machine import machine_of
from ultracluster_stacks.config.network import NetworkConfig
from ultracluster_stacks.config.queue import FurtherQueueConfig, QueueConfig
from ultracluster_stacks.config.rollout import RolloutConfig
from ultracluster_stacks.config.wave import WaveConfig

__all__ = [
    "AssociationConfig",
    "BudgetConfig",
    "CapacityConfig",
    "CheckpointsConfig",
    "ClusterConfig",
    "CompileCacheConfig",
    "DatasetConfig",
    "FileSystemConfig",
    "FurtherCapacityConfig",
    "FurtherQueueConfig",
    "JobConfig",
    "LoadedRollout",
    "NetworkConfig",
    "QueueConfig",
    "RolloutConfig",
    "WaveConfig",
    "load_rollout",
    "machine_of",
    "most_nodes",
    "sources",
]
