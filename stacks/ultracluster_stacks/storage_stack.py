"""The stack with what outlives the nodes of a cluster."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster import CheckpointBucket, ClusterNetwork, CompileCache, SharedFileSystem
from ultracluster_stacks.config import ClusterConfig

__all__ = ["StorageStack"]


class StorageStack(cdk.Stack):
    """Checkpoint bucket, file system and compile cache; all of them are kept when the stack is deleted."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: ClusterConfig,
        network: ClusterNetwork,
        **options: Any,
    ) -> None:
        """Define the stack.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            config: The cluster.
            network: Its network.
            **options: Of `aws_cdk.Stack`.
        """
        super().__init__(scope, construct_id, **options)
        self.checkpoint_bucket = CheckpointBucket(self, "Checkpoints")
        self.file_system = SharedFileSystem(
            self,
            "FileSystem",
            network=network,
            storage_capacity_gib=config.file_system.storage_capacity_gib,
            per_unit_storage_throughput=config.file_system.per_unit_storage_throughput,
            metadata_iops=config.file_system.metadata_iops,
            data_compression=config.file_system.data_compression,
            checkpoint_bucket=self.checkpoint_bucket.bucket,
        )
        self.compile_cache = CompileCache(self, "CompileCache")
