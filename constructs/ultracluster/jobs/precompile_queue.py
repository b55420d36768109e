"""A queue with one On-Demand node outside the capacity of a cluster, for its precompile jobs."""

from aws_cdk import Tags, Token
from constructs import Construct

from ultracluster.nodes.node_group import NodeGroup
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import get_instance_type
from ultracluster_catalog.neuron.compile_machines import smaller_compile_types
from ultracluster_rules.findings import Finding, FindingsError

__all__ = ["precompile_queue"]


def precompile_queue(
    scope: Construct, *, cluster: NodeGroup, instance_type: str | InstanceType | None
) -> TrainingQueue:
    """Return the queue for precompile jobs on an instance type, and create it on first use.

    Args:
        scope: Parent construct.
        cluster: Nodes of the cluster, whose network, AMI and file system the queue uses.
        instance_type: Instance type. None for the smallest with the same chips in the zone.

    Raises:
        FindingsError: If `instance_type` is None and no type is known to be offered (UC6116).
    """
    machine = _machine(cluster, instance_type)
    parent = scope.node.try_find_child(f"Precompile-{machine.name}")
    queue = parent.node.try_find_child("Queue") if parent else None
    if isinstance(queue, TrainingQueue):
        return queue
    parent = Construct(scope, f"Precompile-{machine.name}")
    nodes = NodeGroup(
        parent,
        "Nodes",
        network=cluster.network,
        instance_type=machine,
        image_id=cluster.image_id,
        file_system=cluster.file_system,
        kms_key=cluster.kms_key,
    )
    queue = TrainingQueue(parent, "Queue", nodes=nodes, max_nodes=1, kms_key=cluster.kms_key)
    name = f"precompile-{machine.name}"
    Tags.of(queue).add(QUEUE_NAME_TAG, name, include_resource_types=["AWS::Batch::JobQueue"])
    return queue


def _machine(cluster: NodeGroup, instance_type: str | InstanceType | None) -> InstanceType:
    if isinstance(instance_type, InstanceType):
        return instance_type
    if instance_type is not None:
        return get_instance_type(instance_type)
    machine, zone = cluster.instance_type, cluster.network.zone_id
    candidates = (
        [] if zone is None or Token.is_unresolved(zone) else smaller_compile_types(machine, zone_id=zone)
    )
    if candidates:
        return candidates[0]
    raise FindingsError(
        [
            Finding(
                code="UC6116",
                problem=f"no smaller type with the chips of {machine.name} is known to be offered in the zone",
                remedy="Give instance_type; or queue=cluster.queue, which compiles on a node of the cluster; or a "
                'node of another family with phase="compile"',
                path="instance_type",
            )
        ]
    )
