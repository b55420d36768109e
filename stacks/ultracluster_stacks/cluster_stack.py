"""The stack with the nodes, the queue and the jobs of a cluster."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster import CapacityBlock, CapacityReservation, ClusterNetwork, UltraCluster
from ultracluster_stacks.config import ClusterConfig, machine_of
from ultracluster_stacks.node_placement import node_placement
from ultracluster_stacks.storage_stack import StorageStack

__all__ = ["ClusterStack"]


class ClusterStack(cdk.Stack):
    """Launch template, compute environment, job queue and job definitions."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: ClusterConfig,
        network: ClusterNetwork,
        storage: StorageStack,
        **options: Any,
    ) -> None:
        """Define the stack.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            config: The cluster.
            network: Its network.
            storage: Its storage.
            **options: Of `aws_cdk.Stack`.
        """
        super().__init__(scope, construct_id, **options)
        cluster = UltraCluster(
            self,
            "Cluster",
            instance_type=machine_of(config),
            node_count=config.nodes,
            image_id=config.image_id,
            capacity=_capacity(config),
            network=network,
            checkpoint_bucket=storage.checkpoint_bucket,
            file_system=storage.file_system,
            compile_cache=storage.compile_cache,
            nic_layout=config.network.layout,
            placement=node_placement(self, config),
            scratch_path=config.scratch_path,
            tags={"Name": config.name, "ultracluster:cluster": config.name, **config.tags},
        )
        for job in config.jobs:
            defined = cluster.add_multi_node_job(
                job.name,
                image=job.image,
                command=job.command,
                node_count=job.nodes,
                processes_per_node=job.processes_per_node,
                environment=job.environment,
                timeout=cdk.Duration.hours(job.timeout_hours) if job.timeout_hours else None,
                attempts=job.attempts,
                launcher=job.launcher,
            )
            for dataset in storage.dataset_buckets.values():
                dataset.grant_read(defined)


def _capacity(config: ClusterConfig) -> CapacityBlock | CapacityReservation | None:
    capacity = config.capacity
    if capacity.reservation_id is None:
        return None
    if capacity.market_type == "on-demand":
        return CapacityReservation.from_reservation_id(capacity.reservation_id, zone_id=config.zone_id)
    return CapacityBlock.from_reservation_id(
        capacity.reservation_id, zone_id=config.zone_id, start=capacity.start, end=capacity.end
    )
