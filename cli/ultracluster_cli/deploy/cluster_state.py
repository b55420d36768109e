"""A deployed cluster as AWS describes it."""

from dataclasses import dataclass

__all__ = ["Cluster", "FileSystem", "JobDefinition", "Reservation", "Stack"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """The Capacity Reservation that the launch template targets.

    Attributes:
        id: Its id.
        state: Its state in EC2, such as ``active``.
        market_type: How the launch template asks for it, such as ``capacity-block``. None for on-demand.
        instances: How many instances it holds.
        ends: When it ends, in ISO 8601. None if it has no end.
    """

    id: str
    state: str
    market_type: str | None
    instances: int
    ends: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem:
    """A Lustre file system.

    Attributes:
        id: Its id.
        state: Its life cycle, such as ``AVAILABLE``.
        storage_gib: Its size. None if it grows with its data.
        throughput_mb_per_s: Its disk throughput in MB/s, as bought.
        object_servers: How many servers hold its files.
        node_gbps: The most that AWS's documentation gives one node alone, in Gbit/s.
        node_mb_per_s: The same for each node when all work at the same time, in MB/s.
        usd_per_month: List price of its storage for a month in USD. None if no dated source says it.
    """

    id: str
    state: str
    storage_gib: int | None
    throughput_mb_per_s: float
    object_servers: int
    node_gbps: float
    node_mb_per_s: float
    usd_per_month: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class JobDefinition:
    """The active revision of a job.

    Attributes:
        name: Its name and revision.
        nodes: How many nodes it runs on.
        neuron_devices: Neuron devices in each node's container.
        efa_devices: EFA devices in each node's container.
    """

    name: str
    nodes: int
    neuron_devices: int
    efa_devices: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """A stack in CloudFormation.

    Attributes:
        name: Its name.
        status: Its status, such as ``CREATE_COMPLETE``.
        resources: How many resources it has.
    """

    name: str
    status: str
    resources: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """A deployed cluster.

    Attributes:
        name: Name of its stage.
        region: Its Region.
        instance_type: Of the compute environment.
        nodes: Nodes that the compute environment can have: its maxvCpus over the vCPUs of the type.
        chips: Accelerators of all nodes.
        neuron_cores: Physical NeuronCores of all nodes.
        logical_neuron_cores: NeuronCores that software sees by default, of all nodes.
        efa_interfaces_per_node: EFA interfaces of the launch template.
        efa_gbps_per_node: Bandwidth of the network cards that those interfaces are on.
        placement_group: Of the launch template. None if it names none.
        reservation: Target of the launch template. None if it has none.
        file_systems: Lustre file systems.
        buckets: Names of the buckets.
        queue: Name and state of the job queue.
        job_definitions: Active job definitions.
        stacks: Stacks, in order of deployment.
    """

    name: str
    region: str
    instance_type: str
    nodes: int
    chips: int
    neuron_cores: int
    logical_neuron_cores: int
    efa_interfaces_per_node: int
    efa_gbps_per_node: float
    placement_group: str | None
    reservation: Reservation | None
    file_systems: tuple[FileSystem, ...]
    buckets: tuple[str, ...]
    queue: str
    job_definitions: tuple[JobDefinition, ...]
    stacks: tuple[Stack, ...]
