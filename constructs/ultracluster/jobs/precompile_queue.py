"""A queue over one on-demand node beside the nodes of a cluster, for its precompile jobs."""

from aws_cdk import Tags, Token
from constructs import Construct

from ultracluster.nodes.node_group import NodeGroup
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.compile_machines import smaller_compile_types
from ultracluster_rules.findings import FindingsError
from ultracluster_rules.job_definitions import refuse_default_compile_type
from ultracluster_rules.machines import get_instance_type

__all__ = ["precompile_queue"]


def precompile_queue(
    scope: Construct, *, cluster: NodeGroup, instance_type: str | InstanceType | None
) -> TrainingQueue:
    """Give the queue of the node, and define it if there is none of its type yet.

    Args:
        scope: Where to add it.
        cluster: Nodes of the cluster: network, AMI, file system and chips are theirs.
        instance_type: Type of the node. None for the smallest with the same chips in the zone.

    Raises:
        FindingsError: If no type is given and none is known to be offered (UC6116).
    """
    machine = _machine(cluster, instance_type)
    inner = scope.node.try_find_child(f"Precompile-{machine.name}")
    queue = inner.node.try_find_child("Queue") if inner else None
    if isinstance(queue, TrainingQueue):
        return queue
    inner = Construct(scope, f"Precompile-{machine.name}")
    nodes = NodeGroup(
        inner,
        "Nodes",
        network=cluster.network,
        instance_type=machine,
        image_id=cluster.image_id,
        file_system=cluster.file_system,
        kms_key=cluster.kms_key,
    )
    made = TrainingQueue(inner, "Queue", nodes=nodes, max_nodes=1, kms_key=cluster.kms_key)
    name = f"precompile-{machine.name}"
    Tags.of(made).add(QUEUE_NAME_TAG, name, include_resource_types=["AWS::Batch::JobQueue"])
    return made


def _machine(cluster: NodeGroup, instance_type: str | InstanceType | None) -> InstanceType:
    if isinstance(instance_type, InstanceType):
        return instance_type
    if instance_type is not None:
        return get_instance_type(instance_type)
    machine, zone = cluster.instance_type, cluster.network.zone_id
    known = [] if zone is None or Token.is_unresolved(zone) else smaller_compile_types(machine, zone_id=zone)
    if known:
        return known[0]
    raise FindingsError([refuse_default_compile_type(machine.name, "the zone")])
