"""The stack with the nodes, queues and jobs of a cluster."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

import ultracluster  # attributes of ultracluster are imported lazily
from ultracluster import ClusterNetwork, UltraCluster
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.stacks.storage_stack import StorageStack
from ultracluster_stacks.wiring.capacity_sources import define_queues, node_placement
from ultracluster_stacks.wiring.job_definitions import define_jobs
from ultracluster_stacks.wiring.monitoring import (
    define_budget,
    define_capacity_watch,
    notify_of_blocked_queues,
)
from ultracluster_stacks.wiring.outputs import define_outputs
from ultracluster_stacks.wiring.storage import imported_key


class ClusterStack(cdk.Stack):
    """Launch template, compute environments, job queues and job definitions of a cluster."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Cluster,
        network: ClusterNetwork,
        storage: StorageStack,
        **options: Any,
    ) -> None:
        """Define the stack; options are those of `aws_cdk.Stack`."""
        super().__init__(scope, construct_id, **options)
        key = imported_key(self, "Key", config.kms_key_arn)
        if key is not None:
            known = cdk.Acknowledgment(
                id="ultracluster:UC5251", reason="UC9451 of preflight reads its policy"
            )
            cdk.Validations.of(self).acknowledge(known)
        cluster = UltraCluster(
            self,
            "Cluster",
            instance_type=config.node_type,
            node_count=config.nodes,
            image_id=config.image_id,
            capacity=config.capacity_sources(),
            network=network,
            checkpoint_bucket=storage.checkpoint_bucket,
            file_system=storage.file_system or "none",
            compile_cache=storage.compile_cache,
            placement=node_placement(self, config),
            root_volume=config.root_volume,
            user_data=config.user_data,
            scratch_path=config.scratch_path,
            checkpoint_lead=cdk.Duration.minutes(config.checkpoint_lead_minutes),
            max_refusals=config.max_refusals,
            sick_nodes=config.sick_nodes,
            queue=config.queue,
            alarms=config.alarms,
            notify=config.notify,
            kms_key=key,
            tags={"Name": config.name},
        )
        if (alarms := config.effective_alarms) and alarms.dashboard:
            ultracluster.ClusterDashboard(self, "Dashboard", cluster=cluster)
        queues = define_queues(cluster, config.additional_queues)
        notify_of_blocked_queues(self, config, own=cluster.queue, additional=queues, kms_key=key)
        define_budget(self, config, queues=[cluster.queue, *queues.values()], kms_key=key)
        define_capacity_watch(self, config, kms_key=key)
        datasets = list(storage.dataset_buckets.values())
        jobs = define_jobs(cluster, config.jobs, datasets=datasets, queues=queues)
        define_outputs(self, cluster, queues=queues, jobs=jobs)
        for arn in config.submitters:
            name = arn.partition("role/")[2].replace("/", "-")
            taken = self.node.try_find_child(f"Submitter-{name}") is not None  # of another account or path
            role_id = f"Submitter-{arn.replace('/', '-')}" if taken else f"Submitter-{name}"
            cluster.grant_submit(iam.Role.from_role_arn(self, role_id, arn))
