"""The rollout file: its models, and `load_rollout`, which reads and checks it."""

from ultracluster_stacks.config.loading.loader import LoadedRollout, load_rollout
from ultracluster_stacks.config.models.alarms import BudgetConfig
from ultracluster_stacks.config.models.buckets import CheckpointsConfig, CompileCacheConfig, DatasetConfig
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.job import JobConfig
from ultracluster_stacks.config.models.network import NetworkConfig
from ultracluster_stacks.config.models.queue import AdditionalQueueConfig, QueueConfig
from ultracluster_stacks.config.models.rollout import RolloutConfig, WaveConfig

__all__ = [
    "AdditionalQueueConfig",
    "BudgetConfig",
    "CheckpointsConfig",
    "ClusterConfig",
    "CompileCacheConfig",
    "DatasetConfig",
    "JobConfig",
    "LoadedRollout",
    "NetworkConfig",
    "QueueConfig",
    "RolloutConfig",
    "WaveConfig",
    "load_rollout",
]
