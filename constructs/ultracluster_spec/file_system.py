"""FSx for Lustre file systems: a new or existing one, and its directories linked to S3."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Final, Literal, Protocol

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_figures import (
    EFA_CONNECTIONS_PER_FILE_SYSTEM,
    can_mount_over_efa,
    efa_connections,
    file_system_interfaces,
)
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import FILE_SYSTEM_DNS_NAME, FILE_SYSTEM_ID, LUSTRE_MOUNT_NAME
from ultracluster_catalog.places.cluster_subnet import FILE_SYSTEM_ADDRESSES
from ultracluster_spec import lustre
from ultracluster_spec.bounds import Between, Form
from ultracluster_spec.findings import Finding, Severity, quote
from ultracluster_spec.lustre import Association, check_file_system
from ultracluster_spec.names import KEY, resource_id
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, Place, broken, rule
from ultracluster_spec.values import Value, incomplete

FILE_SYSTEM: Final = Form(code="UC5030", pattern=FILE_SYSTEM_ID, allowed="fs- and 17 hexadecimal digits")
"""ID of an existing file system."""

MOUNT_NAME: Final = Form(
    code=FILE_SYSTEM.code, pattern=LUSTRE_MOUNT_NAME, allowed="1 to 8 letters, digits, - and _"
)
"""Mount name of an existing file system."""

DNS_NAME: Final = Form(
    code=FILE_SYSTEM.code,
    pattern=FILE_SYSTEM_DNS_NAME,
    allowed="a name such as fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com",
)
"""DNS name of an existing file system."""

MOUNT_PATH: Final = "/fsx"
"""Where nodes and jobs mount the file system of a cluster."""

OF_EXISTING: Final = ("mount_name", "dns_name", "zone_id", "security_group_id")
"""Fields of an existing file system besides its ID."""


DeploymentType = Literal["PERSISTENT_2", "SCRATCH_2"]
"""Deployment types that a new file system can have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem(Value):
    """An FSx for Lustre file system. Default: a new one with deployment type PERSISTENT_2 on SSD."""

    deployment_type: DeploymentType = "PERSISTENT_2"
    """`SCRATCH_2` is not replicated: data is lost if a server fails. Changing it replaces the file system.
    Default: PERSISTENT_2."""

    storage_type: Literal["SSD", "INTELLIGENT_TIERING"] = "SSD"
    """`INTELLIGENT_TIERING` grows with its data and is billed by throughput, read cache, data and requests; it cannot be
    linked to S3. Changing it replaces the file system."""

    storage_capacity_gib: Annotated[int, Between("UC5101", 1_200, 100_000_000)] | None = None
    """Size in GiB: 1,200, 2,400 or a multiple of 2,400. Can be increased later, not decreased. Default: 4,800; not
    applicable to `INTELLIGENT_TIERING`."""

    per_unit_storage_throughput: int | None = None
    """Throughput in MB/s per TiB of storage: 125, 250, 500 or 1,000. Default: 250; not applicable to `SCRATCH_2` and
    `INTELLIGENT_TIERING`."""

    throughput_capacity: int | None = None
    """Throughput in MB/s with `INTELLIGENT_TIERING`: a multiple of 4,000. Can be increased later, not decreased. Default:
    4,000."""

    read_cache: Literal["NO_CACHE", "USER_PROVISIONED", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"] | None = None
    """SSD read cache; required with `INTELLIGENT_TIERING`. `PROPORTIONAL_TO_THROUGHPUT_CAPACITY` is billed as 20,000 GiB of
    SSD per 4,000 MB/s."""

    read_cache_gib: int | None = None
    """Size of a `USER_PROVISIONED` read cache: 32 to 131,072 GiB per 4,000 MB/s."""

    metadata_iops: int | None = None
    """Metadata operations per second: 1,500, 3,000, 6,000 or a multiple of 12,000 up to 192,000. Can be increased later, not
    decreased. Default: chosen by FSx from the size; 6,000 with `INTELLIGENT_TIERING`, which supports 6,000 or 12,000."""

    efa: bool = False
    """Whether nodes mount over EFA, which the trn2 family does not support. Changing it replaces the file system.
    Default: no."""

    data_compression: bool = True
    """Whether to compress new data with LZ4. Default: yes."""

    kms_key_arn: Annotated[str, KEY] | None = None
    """ARN of the KMS key for data at rest. Changing it replaces the file system. Default: the AWS managed key of FSx."""

    link_checkpoints: bool = True
    """Whether to link /checkpoints to the checkpoint bucket, in both directions. Default: yes."""

    associations: tuple[Association, ...] = ()
    """More directories to link to S3; at most 8 including /checkpoints and datasets. Default: none."""

    backup_retention_days: int = 0
    """Days to keep daily backups, up to 90; not with `SCRATCH_2` or links to S3. Default: no backups."""

    backup_start_time: str | None = None
    """Start of daily backups: HH:MM in UTC, in quotes, such as "03:30". Default: chosen by FSx."""

    copy_tags_to_backups: bool = False
    """Whether to copy the tags of the file system to backups. Changing it replaces the file system. Default: no."""

    file_system_id: Annotated[str, FILE_SYSTEM] | None = None
    """ID of an existing file system, with `mount_name`. It is not changed; of the settings above only `efa` applies.
    Default: a new file system."""

    mount_name: Annotated[str, MOUNT_NAME] | None = None
    """Lustre mount name of the existing file system."""

    dns_name: Annotated[str, DNS_NAME] | None = None
    """DNS name of the existing file system. Default: derived from ID and Region."""

    zone_id: str | None = None
    """Zone ID of the existing file system, checked against the cluster's. Default: not checked, with a warning."""

    security_group_id: Annotated[str, resource_id("sg", code=FILE_SYSTEM.code)] | None = None
    """ID of the existing file system's security group, to which rules for the nodes are added. Default: no rules are added,
    with a warning."""

    @property
    def is_new(self) -> bool:
        """Whether the cluster creates the file system."""
        return self.file_system_id is None

    @property
    def mount_path(self) -> str | None:
        """Where nodes and jobs mount it; None without a file system."""
        return MOUNT_PATH

    @property
    def settings(self) -> LustreSettings:
        """What FSx is asked for, with defaults; without the fields that are unset here."""
        known = self.known()
        values: dict[str, Any] = {name: known[name] for name in _SHARED if name in known}
        if "efa" in known:
            values["efa_enabled"] = known["efa"]
        complete = LustreSettings(**values).with_defaults()
        unset = {*_SHARED, "efa"} - known.keys()
        if not unset:
            return complete
        if unset & {"deployment_type", "storage_type"}:  # they decide about the defaults
            unset |= {name for name, value in values.items() if value is None}
        kept = {field.name: getattr(complete, field.name) for field in fields(complete)}
        names = {"efa_enabled" if name == "efa" else name for name in unset}
        return incomplete(LustreSettings, {name: value for name, value in kept.items() if name not in names})

    @property
    def subnet_addresses(self) -> int:
        """Addresses to reserve in an existing subnet: those of a new file system, with room to grow."""
        if not self.is_new:
            return 0
        settings = self.settings
        if check_file_system(settings):
            return FILE_SYSTEM_ADDRESSES
        return max(FILE_SYSTEM_ADDRESSES, file_system_interfaces(settings))


class NoFileSystem(FileSystem):
    """No file system: the value of the word ``none``. Nodes mount nothing, and nothing is created."""

    __slots__ = ()
    word = "none"

    @property
    def is_new(self) -> bool:
        """False: nothing is created."""
        return False

    @property
    def mount_path(self) -> None:
        """None: nothing is mounted."""
        return


NO_FILE_SYSTEM: Final = NoFileSystem()
"""What a cluster without a file system has as one."""


class _OrNone:
    """Takes the word ``none`` for a file system; pydantic calls these methods, and is not imported."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        def validate(value: Any, inner: Callable[[Any], Any]) -> Any:
            return NO_FILE_SYSTEM if value == NO_FILE_SYSTEM.word else inner(value)

        function = {"type": "no-info", "function": validate}
        return {"type": "function-wrap", "function": function, "schema": handler(source)}

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], Any]) -> Any:
        return {"anyOf": [handler(schema), {"const": NO_FILE_SYSTEM.word}]}


OptionalFileSystem = Annotated[FileSystem, _OrNone()]
"""A file system in a rollout file: its settings, or ``none``."""


def broken_settings(system: FileSystem) -> Iterator[tuple[Place, Finding]]:
    """Yield what FSx rejects of a new file system, at the fields of its value."""
    for place, finding in broken(lustre.SETTINGS_RULES, system.settings):
        name = "efa" if place == ("efa_enabled",) else place[0]
        yield (name,), finding.at(str(name))


_SHARED: Final = tuple(
    field.name for field in fields(LustreSettings) if field.name in FileSystem.__dataclass_fields__
)
_OF_BOTH: Final = frozenset({"file_system_id", "efa", *OF_EXISTING})


class Linked(Protocol):
    """What can be linked to a directory of a file system."""

    @property
    def file_system_path(self) -> str | None:
        """The directory."""


class Mounting(Protocol):
    """What the rules below read of a cluster."""

    @property
    def file_system(self) -> FileSystem:
        """The file system."""

    @property
    def zone_id(self) -> str:
        """Zone ID of the nodes."""

    @property
    def node_type(self) -> InstanceType:
        """The instance type of the nodes."""

    @property
    def most_nodes(self) -> int:
        """Maximum number of nodes."""

    @property
    def datasets(self) -> Sequence[Linked]:
        """Buckets with data."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mounted(Value):
    """A file system and its clients, as far as a construct knows them; see `incomplete`."""

    file_system: FileSystem
    zone_id: str
    node_type: InstanceType
    most_nodes: int
    datasets: Sequence[Linked]


@rule("UC5103")
def file_system_is_new_or_existing(system: FileSystem) -> Iterator[At]:
    """A file system is an existing one, named with its mount name, or a new one."""
    existing = system.file_system_id is not None
    if existing and system.mount_name is None:
        remedy = "Set both for an existing file system; `aws fsx describe-file-systems` shows them"
        yield At("file_system_id", "file_system_id is set without mount_name", remedy=remedy)
    of_new = [name for name in FileSystem.__dataclass_fields__ if name not in _OF_BOTH]
    for name in of_new if existing else OF_EXISTING:
        if system.differs(name):
            problem = f"{name} is for {'a new' if existing else 'an existing'} file system only"
            yield At(name, problem, remedy=f"Remove it, or {'remove' if existing else 'set'} file_system_id")


@rule(file_system_is_new_or_existing.code)
def file_system_is_new(system: FileSystem) -> Iterator[At]:
    """The settings of a new file system name no existing one."""
    if not system.is_new:
        remedy = "Import it with SharedFileSystem.from_attributes"
        yield At("file_system_id", "an existing file system is not created", remedy=remedy)


@rule("UC5007")
def key_is_supported(system: FileSystem) -> Iterator[At]:
    """A customer managed key is used only with file systems that support one."""
    if system.kms_key_arn is not None and system.deployment_type != "PERSISTENT_2":
        problem = f"{system.deployment_type} is encrypted with a key of FSx"
        yield At("kms_key_arn", problem, remedy="Remove it, or use PERSISTENT_2")


FILE_SYSTEM_RULES: Final = (file_system_is_new_or_existing, key_is_supported)
"""Rules about a file system alone."""


@rule(lustre.efa_has_clients.code)
def nodes_mount_over_efa(cluster: Mounting) -> Iterator[At]:
    """EFA is enabled for nodes that can mount over it."""
    for wrong in lustre.efa_has_clients([cluster.node_type]) if cluster.file_system.efa else ():
        yield replace(wrong, path=("file_system", "efa"))


@rule("UC5105")
def efa_connections_suffice(cluster: Mounting) -> Iterator[At]:
    """The EFA interfaces of all nodes are as many as a file system talks to."""
    if not cluster.file_system.efa or not can_mount_over_efa(cluster.node_type):
        return
    connections = efa_connections(cluster.node_type, nodes=cluster.most_nodes)
    if connections > EFA_CONNECTIONS_PER_FILE_SYSTEM:
        yield At(
            ("file_system", "efa"),
            f"the nodes make {connections:,} EFA connections, and a file system has "
            f"{EFA_CONNECTIONS_PER_FILE_SYSTEM:,}",
            remedy="Let the image set up fewer EFA interfaces for Lustre",
        )


@rule("UC5031")
def file_system_is_in_the_zone(cluster: Mounting) -> Iterator[At]:
    """An existing file system is in the Availability Zone of the nodes."""
    system = cluster.file_system
    if system.file_system_id is not None and system.zone_id not in {None, cluster.zone_id}:
        problem = f"the file system is in {quote(system.zone_id)}, the nodes are in {quote(cluster.zone_id)}"
        remedy = "Use a file system in the zone of the nodes: traffic between zones is slower and billed"
        yield At(("file_system", "zone_id"), problem, remedy=remedy)


@rule("UC5032")
def zone_of_file_system_is_known(cluster: Mounting) -> Iterator[At]:
    """The zone of an existing file system is known."""
    if cluster.file_system.file_system_id is not None and cluster.file_system.zone_id is None:
        problem = f"the zone of the file system is unknown; the nodes are in {cluster.zone_id}"
        yield At(("file_system", "file_system_id"), problem, remedy="Set its zone_id, so that it is checked")


@rule("UC5033")
def nodes_reach_the_file_system(cluster: Mounting) -> Iterator[At]:
    """Nodes are let through to an existing file system."""
    if cluster.file_system.file_system_id is not None and cluster.file_system.security_group_id is None:
        problem = "no security group rule lets the nodes reach the file system"
        remedy = "Set its security group, or add rules for Lustre to both groups yourself"
        yield At(("file_system", "file_system_id"), problem, remedy=remedy)


@rule(file_system_is_new_or_existing.code)
def datasets_are_of_a_new_file_system(cluster: Mounting) -> Iterator[At]:
    """Datasets are linked to a new file system only: an existing one is not changed."""
    if cluster.file_system.is_new:
        return
    for index, dataset in enumerate(cluster.datasets):
        if dataset.file_system_path is not None:
            problem = "file_system_path is for a new file system only"
            other = (
                "an existing one is not changed" if cluster.file_system.mount_path else "the cluster has none"
            )
            yield At(("datasets", index, "file_system_path"), f"{problem}; {other}", remedy="Remove it")


CLUSTER_RULES: Final = (
    nodes_mount_over_efa,
    efa_connections_suffice,
    file_system_is_in_the_zone,
    zone_of_file_system_is_known,
    nodes_reach_the_file_system,
    datasets_are_of_a_new_file_system,
)
"""Rules about a file system and the cluster that mounts it."""

RECORDS: Final = (
    RuleRecord(
        "UC5007",
        "A customer managed key is used only with file systems that support one.",
        remedy="Omit the key, since FSx encrypts scratch file systems with its own key, or use PERSISTENT_2.",
        source="FSx for Lustre guide, encrypting data at rest, 2026-10.",
    ),
    RuleRecord(
        "UC5030",
        "An existing file system is named by its id, its mount name and its DNS name.",
        remedy="`aws fsx describe-file-systems` shows FileSystemId, MountName and DNSName; copy them unchanged.",
        source="botocore 1.44.5, FSx FileSystemId, LustreFileSystemMountName and DNSName, 2026.",
    ),
    RuleRecord(
        "UC5031",
        "An existing file system is in the Availability Zone of the nodes.",
        remedy="Use a file system in the zone of the nodes, or restore a backup of this one there.",
        source="EC2 pricing: traffic between zones is paid, and it is slower. EFA does not leave a zone (EC2 user guide, 2026-10).",
    ),
    RuleRecord(
        "UC5032",
        "The zone of an existing file system is known.",
        severity=Severity.WARNING,
        remedy="Specify `zone_id`, the zone of the subnet of the file system, to compare it with the zone of the nodes.",
        source="Our decision: nothing is looked up at synthesis.",
        suppressible=True,
    ),
    RuleRecord(
        "UC5033",
        "Nodes are let through to an existing file system.",
        severity=Severity.WARNING,
        remedy="Specify `security_group_id` of the file system, or allow TCP 988 and 1018 to 1023 between both groups and suppress the warning.",
        source="FSx for Lustre guide, limit access with security groups, 2026-10.",
        suppressible=True,
    ),
    RuleRecord(
        "UC5101",
        "The size of a file system is 1,200 GiB or more.",
        remedy="Specify 1,200 GiB, 2,400 GiB, or a multiple of 2,400 GiB.",
        source="botocore 1.44.5, FSx CreateFileSystem StorageCapacity, 2026. One text of AWS says 600 for PERSISTENT_2; CreateFileSystem refuses it.",
        example="file_system: {storage_capacity_gib: 1200}",
    ),
    RuleRecord(
        "UC5103",
        "A file system is an existing one, named with its mount name, or a new one.",
        remedy="Specify file_system_id with mount_name and no settings of a new file system, or omit both for a new one.",
        source="Our decision: nothing of an existing file system is changed.",
    ),
    RuleRecord(
        "UC5105",
        "The EFA interfaces of all nodes are as many as a file system talks to.",
        severity=Severity.WARNING,
        remedy="Let the image set up fewer EFA interfaces for Lustre on each node, and say so with a suppression.",
        source="FSx for Lustre guide, EFA-enabled file systems, 2026-10: 1,024 EFA connections for each file system.",
        suppressible=True,
    ),
)
