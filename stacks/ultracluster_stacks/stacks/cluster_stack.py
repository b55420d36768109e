"""The stack with the nodes, queues and jobs of a cluster."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import aws_cdk as cdk
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

import ultracluster  # attributes of ultracluster are imported lazily
from ultracluster import ClusterNetwork, ClusterPlacement, TrainingQueue, UltraCluster
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.stacks.job_definitions import define_jobs
from ultracluster_stacks.stacks.outputs import define_outputs
from ultracluster_stacks.stacks.storage_stack import StorageStack, imported_key


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
        queues = {queue.name: cluster.add_queue(queue.name, queue) for queue in config.additional_queues}
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


def node_placement(scope: Construct, config: Cluster) -> ClusterPlacement | Literal["auto", "none"]:
    """Import the placement group of a cluster, or return ``auto`` or ``none``."""
    match config.network.placement:
        case "auto" | "none" as choice:
            return choice
        case name:
            return ClusterPlacement(scope, "Placement", placement_group_name=name)


def define_budget(
    scope: Construct, config: Cluster, *, queues: Sequence[TrainingQueue], kms_key: kms.IKey | None
) -> None:
    """Define the budget of a cluster, if it has one, in the stack of its queues."""
    budget = config.budget
    if budget is None:
        return
    topic = None
    if budget.topic_arn is not None:
        topic = sns.Topic.from_topic_arn(scope, "BudgetTopic", budget.topic_arn)
    close_at = budget.close_queues_at_percent
    ultracluster.ClusterBudget(
        scope,
        "Budget",
        monthly_usd=budget.monthly_usd,
        tag_value=config.name,
        actual_percents=budget.actual_percents,
        forecast_percents=budget.forecast_percents,
        emails=budget.emails,
        topic=topic,
        queues_to_close=() if close_at is None else queues,
        close_at_percent=100 if close_at is None else close_at,
        kms_key=kms_key,
    )


def define_capacity_watch(scope: Construct, config: Cluster, *, kms_key: kms.IKey | None) -> None:
    """Define the watch for capacity of a cluster, if it has one; it tells those that the cluster notifies."""
    if config.capacity_watch is None:
        return
    arns = [recipient for recipient in config.notify if recipient.startswith("arn:")]
    ultracluster.CapacityWatch(
        scope,
        "CapacityWatch",
        order=config.capacity_watch,
        instance_type=config.node_type,
        emails=() if arns else config.notify,
        topic=sns.Topic.from_topic_arn(scope, "CapacityWatchTopic", arns[0]) if arns else None,
        kms_key=kms_key,
    )


def notify_of_blocked_queues(
    scope: Construct,
    config: Cluster,
    *,
    own: TrainingQueue,
    additional: Mapping[str, TrainingQueue],
    kms_key: kms.IKey | None,
) -> None:
    """Publish AWS Batch's blocked-queue events to one topic, if any queue has `notify_blocked`."""
    queues = [own] if config.queue.notify_blocked else []
    queues += [additional[queue.name] for queue in config.additional_queues if queue.notify_blocked]
    if not queues:
        return
    target = targets.SnsTopic(sns.Topic(scope, "BlockedQueues", enforce_ssl=True, master_key=kms_key))
    for queue in queues:
        queue.on_blocked("Blocked", target)
