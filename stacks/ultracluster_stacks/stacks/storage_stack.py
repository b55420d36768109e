"""The stack with the storage of a cluster, which outlives its nodes."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster import ClusterNetwork, PosixCompileCache
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.wiring.storage import (
    checkpoint_bucket,
    compile_cache_bucket,
    dataset_bucket,
    file_system,
    imported_key,
)


class StorageStack(cdk.Stack):
    """Buckets, file system if it has one, and compile cache of a cluster, all retained when the stack is deleted."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Cluster,
        network: ClusterNetwork,
        **options: Any,
    ) -> None:
        """Define the stack; options are those of `aws_cdk.Stack`."""
        super().__init__(scope, construct_id, **options)
        key = imported_key(self, "Key", config.kms_key_arn)
        self.checkpoint_bucket = checkpoint_bucket(self, config.checkpoints, key)
        self.dataset_buckets = {
            dataset.name: dataset_bucket(self, dataset, key) for dataset in config.datasets
        }
        self.file_system = file_system(
            self,
            config,
            network=network,
            checkpoints=self.checkpoint_bucket,
            datasets=self.dataset_buckets,
            kms_key=key,
        )
        self.compile_cache = (
            PosixCompileCache(self.file_system)
            if config.compile_cache.on_file_system and self.file_system
            else compile_cache_bucket(self, config.compile_cache, key)
        )
