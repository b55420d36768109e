"""A deployed cluster as AWS describes it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """The Capacity Reservation that the launch template targets.

    Attributes:
        id: Reservation ID.
        state: State in EC2, such as ``active``.
        market_type: Market type in the launch template, such as ``capacity-block``. None for on-demand.
        instances: Total number of instances.
        ends: End in ISO 8601. None if it has no end.
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
        id: File system ID.
        state: Life cycle state, such as ``AVAILABLE``.
        storage_gib: Size. None for elastic storage.
        throughput_mb_per_s: Provisioned disk throughput in MB/s.
        object_servers: Number of object storage servers.
        node_gbps: Documented maximum throughput of a single node in Gbit/s.
        node_mb_per_s: Documented maximum throughput of each node when all are active, in MB/s.
        usd_per_month: Monthly list price of the storage in USD. None if unknown.
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
    """The active revision of a job."""

    name: str
    nodes: int
    neuron_devices: int
    efa_devices: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """A stack in CloudFormation.

    Attributes:
        name: Stack name.
        status: Status, such as ``CREATE_COMPLETE``.
        resources: Number of resources.
    """

    name: str
    status: str
    resources: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """A deployed cluster.

    Attributes:
        name: Stage name.
        region: AWS Region.
        instance_type: Instance type of the compute environment.
        nodes: Maximum number of nodes: maxvCpus over the vCPUs of the type.
        chips: Accelerators of all nodes.
        neuron_cores: Physical NeuronCores of all nodes.
        logical_neuron_cores: Logical NeuronCores of all nodes, at the default configuration.
        efa_interfaces_per_node: EFA interfaces of the launch template.
        efa_gbps_per_node: Bandwidth of the network cards of those interfaces.
        placement_group: Placement group of the launch template. None without one.
        reservation: Reservation that the launch template targets. None without one.
        file_systems: Lustre file systems.
        buckets: Names of the buckets.
        queue: Name and state of the job queue.
        job_definitions: Active job definitions.
        stacks: Stacks in deployment order.
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
