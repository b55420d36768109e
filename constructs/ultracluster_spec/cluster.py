"""A cluster of the rollout: one UltraCluster in one zone of one Region."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from ultracluster_catalog.capacity.capacity_blocks import block_regions
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import ZONE_ID
from ultracluster_catalog.neuron.compile_machines import CPU, compile_type
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_spec.alarms import RECIPIENT, Alarms, Budget, effective_alarms
from ultracluster_spec.bounds import Checked, Form
from ultracluster_spec.buckets import Checkpoints, CompileCacheSettings, Dataset
from ultracluster_spec.capacity import (
    CHECKPOINT_LEAD_MINUTES,
    MAX_NODES,
    MAX_REFUSALS,
    SETTING_OF_ANOTHER_KIND,
    UNSEEN_FAULTS,
    AdditionalCapacity,
    Capacity,
    CapacityRecord,
    SickNodes,
    check_sick_nodes,
    placeholder_reservation,
)
from ultracluster_spec.file_system import FileSystem, OptionalFileSystem
from ultracluster_spec.findings import Finding, Severity, is_token, require
from ultracluster_spec.images import AMI
from ultracluster_spec.instance_type import CustomInstanceType, InstanceTypeName, get_instance_type
from ultracluster_spec.job import NamedJob
from ultracluster_spec.names import REGION, AccountId, KeyArn, Name, PolicyRef, RoleArn, RolePathText
from ultracluster_spec.network import Network
from ultracluster_spec.nodes import RootVolume, UserData
from ultracluster_spec.queue import OWN_CAPACITY, AdditionalQueue, Queue
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, Place, rule
from ultracluster_spec.standing_order import StandingOrder
from ultracluster_spec.values import Value


def _explain_zone_id(value: str) -> str:
    if value[:-1].strip().lower() in REGIONS:
        return (
            "This is a zone name, which maps to a different zone in each account; "
            "`aws ec2 describe-availability-zones` shows its zone ID"
        )
    return ""


STACKS: Final = ("Network", "Storage", "Cluster")
"""The stacks of a cluster by the ends of their names, in the order of their deployment."""

MOST_TAGS: Final = 40
"""Maximum number of tags: below the 50 of AWS, because CloudFormation, Batch and the stacks add their own."""

# Letters and digits of any script, spaces and these: + - = . _ : / @ ("Tagging AWS Resources", November 2026).
_CHARACTER: Final = r"[^\x00-\x1f!-*,;<>?\[-^`{-\x7f]"

_TAG_KEY: Final = Form(
    code="UC2107",
    pattern=rf"(?![aA][wW][sS]:){_CHARACTER}{{1,128}}",
    allowed="1 to 128 letters, digits, spaces and + - = . _ : / @, without the reserved prefix aws:",
)

_TAG_VALUE: Final = Form(
    code="UC2107",
    # CloudFormation requires a value (CreateStack, botocore 1.44.5).
    pattern=f"{_CHARACTER}{{1,256}}",
    allowed="1 to 256 letters, digits, spaces and + - = . _ : / @",
)


def check_tags(tags: Mapping[str, str], *, path: str) -> list[Finding]:
    """Check tags that are no part of a rollout file (UC2107); tokens pass."""
    return [
        *(finding.at(path) for finding in _check_tags(tags)),
        *(
            finding
            for key, value in tags.items()
            for form, text in ((_TAG_KEY, key), (_TAG_VALUE, value))
            if not is_token(text)
            for finding in form.check(text, path=f"{path}.{key}")
        ),
    ]


def _check_tags(tags: Mapping[str, str]) -> list[Finding]:
    count = len(tags)
    return require(count <= MOST_TAGS, "UC2107", f"got {count} tags", allowed=f"at most {MOST_TAGS}")


def _check_reason(reason: str) -> list[Finding]:
    allowed = "a short reason why this warning does not matter here"
    return require(reason.strip(), "UC2242", "the reason is empty", allowed=allowed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster(Value):
    """One UltraCluster: nodes of one type in one zone, with their network, file system and jobs."""

    name: Name
    """Name of the cluster, unique in its Region: lower case letters, digits and hyphens."""

    region: Annotated[str, REGION]
    """Region of the cluster, such as us-east-2."""

    account: AccountId | None = None
    """AWS account ID: 12 digits in quotes. Default: the account of the credentials."""

    profile: (
        Annotated[
            str,
            Form(
                code="UC2230",
                pattern=r"[A-Za-z0-9_][A-Za-z0-9_.@+/-]{0,127}",
                allowed="the name of an AWS CLI profile, such as production",
            ),
        ]
        | None
    ) = None
    """AWS CLI profile that `plan`, `preflight`, `deploy`, `rollout`, `ami resolve`, `cost actual` and `cost advise` use for the
    account of the cluster. Not part of templates. Default: the credentials of the shell."""

    permissions_boundary: PolicyRef | None = None
    """Name or ARN of the policy that is the permissions boundary of all roles of the cluster. Default: none."""

    role_path: RolePathText | None = None
    """IAM path of the roles and instance profiles of the cluster, such as /training/. Changing it replaces them and the
    nodes. Default: /."""

    kms_key_arn: KeyArn | None = None
    """ARN of the KMS key for all new buckets, file systems, root volumes, log groups and topics without their own
    `kms_key_arn`. Its policy must allow the services to use it (`ultracluster docs security`). Changing it replaces the file system.
    Default: AWS managed keys."""

    removal_policy: Literal["retain", "destroy"] = "retain"
    """`destroy` deletes the new file system, buckets, logs and tables of the cluster with its stacks; `ultracluster destroy`
    then requires `--delete-data`. Datasets keep theirs only if they are existing buckets. Default: retain."""

    zone_id: Annotated[
        str,
        Form(code="UC3101", pattern=ZONE_ID, allowed="a zone ID, such as use2-az3", explain=_explain_zone_id),
    ]
    """Zone ID of the Availability Zone of the capacity, such as use2-az3."""

    custom_instance_type: CustomInstanceType | None = None
    """Properties of an instance type that the catalogue lacks or that override it, with a warning. Default: those of the
    catalogue."""

    instance_type: InstanceTypeName
    """Instance type of the nodes, such as trn2.48xlarge."""

    nodes: Annotated[int, MAX_NODES]
    """Maximum number of nodes, 1 to 1,000; 64 in a Capacity Block. With `additional_capacity`: per capacity without
    `max_nodes`."""

    image_id: Annotated[str, AMI]
    """AMI ID of the nodes, specific to the Region."""

    capacity: CapacityRecord = field(default_factory=CapacityRecord)
    """How the instances are bought. Default: Capacity Blocks."""

    additional_capacity: tuple[AdditionalCapacity, ...] = ()
    """Capacity to use when `capacity` is full, in order of preference, each with its own compute environment. Multi-node
    jobs use it only if the capacity before it is closed or too small. Default: none."""

    checkpoint_lead_minutes: Annotated[int, CHECKPOINT_LEAD_MINUTES] = 20
    """Minutes before the drain of a Capacity Block at which running jobs receive a request to write a checkpoint, 0 to 720. Default:
    20."""

    max_refusals: Annotated[int, MAX_REFUSALS] = 3
    """Number of nodes of a Capacity Block that refuse to join one after another before its compute environment is closed, 1
    to 100. Default: 3."""

    sick_nodes: SickNodes = "tell"
    """What is done about nodes of a Capacity Block with hardware faults. `tell`: `notify` receives the faults of each and the
    command that replaces it. `replace`: no further job starts on it, and it is terminated, at most two in an hour, so that
    another one comes in the block; a job on it is asked for a checkpoint and submitted again if it has `resume`, and
    waited for if it has none. It was never shown in a real block (L128). Default: tell."""

    queue: Queue = field(default_factory=Queue)
    """Priority, shares and limits of the cluster's own job queue."""

    additional_queues: tuple[AdditionalQueue, ...] = ()
    """More job queues for the same nodes. Default: none."""

    network: Network = field(default_factory=Network)
    """VPC, subnet and network interfaces."""

    scratch_path: str | None = None
    """Path at which the instance-store disks are mounted as one volume, on the node and in its jobs, such as /scratch. The
    data is lost with the node. The AMI must include mdadm. Default: not mounted."""

    root_volume: RootVolume = field(default_factory=RootVolume)
    """Size and throughput of the root volume of each node."""

    user_data: UserData | None = None
    """Script of up to 2,048 bytes that each node runs as root at its first boot, after its own checks; its result does not
    decide whether the node joins. Changing it replaces the nodes. Default: none."""

    file_system: OptionalFileSystem = field(default_factory=FileSystem)
    """The FSx for Lustre file system; `none` for a cluster without one. Default: a new one."""

    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    """The checkpoint bucket."""

    datasets: tuple[Dataset, ...] = ()
    """Buckets with training data that jobs can read. Default: none."""

    compile_cache: CompileCacheSettings = field(default_factory=CompileCacheSettings)
    """Storage and expiration of compiled graphs."""

    jobs: tuple[NamedJob, ...] = ()
    """Job definitions of the cluster. Default: none."""

    submitters: tuple[RoleArn, ...] = ()
    """ARNs of IAM roles of the account that may submit the jobs of the cluster to its queues, and nothing else. Default:
    none; whoever has permissions of AWS Batch."""

    budget: Budget | None = None
    """The monthly budget of the cluster. Default: none."""

    notify: tuple[Annotated[str, RECIPIENT], ...] = ()
    """Email addresses, each of which must confirm, and at most one ARN of an SNS topic, to which they are then subscribed, to
    notify of alarms, nodes that refuse to join, interrupted jobs and the end of Capacity Blocks. Default: none."""

    alarms: Alarms | None = None
    """Alarm thresholds and recipients. Default: alarms with default thresholds and without a dashboard for Capacity Blocks,
    none for other capacity."""

    capacity_watch: StandingOrder | None = None
    """A Capacity Block to look for, such as the next one: `notify` receives a message when it is offered or its price falls. Default:
    none."""

    tags: Annotated[dict[Annotated[str, _TAG_KEY], Annotated[str, _TAG_VALUE]], Checked(_check_tags)] = field(
        default_factory=dict
    )
    """Tags of all resources of the cluster, up to 40. Default: none."""

    suppress: dict[str, Annotated[str, Checked(_check_reason)]] = field(default_factory=dict)
    """Codes of warnings to hide, each with the reason; `ultracluster validate --json` still lists them. Default: none."""

    @property
    def stage(self) -> str:
        """Name of the CDK stage, such as ``training-us-east-2``, unique in the rollout."""
        return f"{self.name}-{self.region}"

    @property
    def key(self) -> tuple[str, str]:
        """Region and name, unique in an account."""
        return self.region, self.name

    @property
    def stacks(self) -> tuple[str, str, str]:
        """Names of its stacks: network, storage, cluster."""
        network, storage, cluster = STACKS
        return f"{self.stage}-{network}", f"{self.stage}-{storage}", f"{self.stage}-{cluster}"

    @property
    def node_type(self) -> InstanceType:
        """The instance type of the nodes, from the catalogue or from `custom_instance_type`."""
        own = self.custom_instance_type
        return get_instance_type(self.instance_type if own is None else own.entry(self.instance_type))

    def sources(self) -> Iterator[tuple[Place, CapacityRecord]]:
        """Iterate over all capacity in order of preference, with the location of each in the cluster."""
        yield ("capacity",), self.capacity
        for index, capacity in enumerate(self.additional_capacity):
            yield ("additional_capacity", index), capacity

    def capacity_sources(self) -> tuple[Capacity, ...]:
        """Return all capacity in order of preference, each of its own kind."""
        return tuple(capacity.source(zone_id=self.zone_id) for _, capacity in self.sources())

    def buckets(self) -> Iterator[tuple[Place, Checkpoints | Dataset]]:
        """Iterate over the buckets for checkpoints and datasets, with the location of each in the cluster."""
        yield ("checkpoints",), self.checkpoints
        for index, dataset in enumerate(self.datasets):
            yield ("datasets", index), dataset

    @property
    def named_capacity(self) -> dict[str, CapacityRecord]:
        """All capacity by the names that queues use, in order of preference."""
        return {getattr(capacity, "name", OWN_CAPACITY): capacity for _, capacity in self.sources()}

    def capacity_of(self, queue: Queue) -> dict[str, CapacityRecord]:
        """Return the capacity that a queue uses, by name, in order of preference."""
        known = self.named_capacity
        return {name: known[name] for name in queue.capacity or known if name in known}

    @property
    def unresolved_orders(self) -> list[str]:
        """Orders whose reservation is a placeholder, since it is not bought yet."""
        return [
            capacity.order
            for _, capacity in self.sources()
            if capacity.order and capacity.reservation_id in (None, placeholder_reservation(capacity.order))
        ]

    @property
    def has_block(self) -> bool:
        """Whether a Capacity Block is among its capacity."""
        return any(capacity.market_type == "capacity-block" for _, capacity in self.sources())

    @property
    def effective_alarms(self) -> Alarms | None:
        """Alarms that the cluster has; see `effective_alarms`."""
        return effective_alarms(self.alarms, has_block=self.has_block)

    @property
    def resumes_jobs(self) -> bool:
        """Whether a function with an alarm submits interrupted jobs again."""
        is_notified = self.has_block or bool(self.notify) or self.effective_alarms is not None
        return is_notified and any(not job.has_own_node for job in self.jobs)

    @property
    def closes_queues(self) -> bool:
        """Whether a budget closes the queues, with a function that has an alarm."""
        return self.budget is not None and self.budget.close_queues_at_percent is not None

    def compile_type(self, job: NamedJob) -> InstanceType | None:
        """Return the type of the node of a precompile job or support check; None if none is known to be offered."""
        instance_type = CPU if job.kind == "support-check" else job.instance_type
        return compile_type(
            self.node_type, zone_id=self.zone_id, phase=job.phase, instance_type=instance_type
        )

    @property
    def compile_types(self) -> tuple[InstanceType, ...]:
        """Types of the On-Demand nodes that precompile jobs and support checks add to the cluster."""
        jobs = [job for job in self.jobs if job.has_own_node and job.queue is None]
        return tuple(filter(None, dict.fromkeys(map(self.compile_type, jobs))))

    @property
    def most_nodes(self) -> int:
        """Maximum number of nodes of all capacity together."""
        return sum(self.nodes_from(capacity) for _, capacity in self.sources())

    def nodes_from(self, capacity: CapacityRecord | Capacity) -> int:
        """Return the maximum number of nodes of one capacity of the cluster."""
        return capacity.max_nodes or self.nodes


@rule("UC4107")
def block_is_sold_in_the_region(cluster: Cluster) -> Iterator[At]:
    """AWS lists Capacity Blocks of the type for the Region; its list is not complete."""
    name = cluster.node_type.name
    regions = block_regions(name)
    if regions and cluster.region not in regions and cluster.has_block:
        problem = f"Capacity Blocks of {name} are not known to be sold in {cluster.region}"
        yield At("region", problem, remedy=f"Known Regions: {', '.join(regions)}")


@rule(SETTING_OF_ANOTHER_KIND)
def block_settings_have_a_block(cluster: Cluster) -> Iterator[At]:
    """Settings of the life cycle of Capacity Blocks are used with one."""
    for name in ("checkpoint_lead_minutes", "max_refusals"):
        if cluster.differs(name) and not cluster.has_block:
            yield At(name, f"{name} is for `capacity-block`", remedy="Remove it")


@rule(UNSEEN_FAULTS)
def sick_nodes_can_be_replaced(cluster: Cluster) -> Iterator[At]:
    """Sick nodes that are replaced are of a Capacity Block, and publish metrics."""
    has_metrics = cluster.effective_alarms is not None
    yield from At.all(
        check_sick_nodes(cluster.sick_nodes, has_block=cluster.has_block, has_metrics=has_metrics)
    )


BLOCK_RULES: Final = (block_is_sold_in_the_region, block_settings_have_a_block, sick_nodes_can_be_replaced)
"""Rules about a cluster with a Capacity Block, or with settings for one."""

RECORDS: Final = (
    RuleRecord(
        "UC2107",
        "Tags are within AWS's limits on keys, values and their number.",
        remedy="Use letters, digits, spaces and + - = . _ : / @, no prefix aws:, and at most 40 tags: AWS allows 50 for a resource, and services add some.",
        source="AWS tagging reference: keys of 1 to 128 characters, values of up to 256, 50 tags, aws: is reserved.",
        example="tags: {team: research}",
    ),
    RuleRecord(
        "UC2230",
        "The profile of a cluster is a profile name without spaces.",
        remedy="Specify the name of a profile in ~/.aws/config, without the word profile.",
        source="Our decision: the name becomes an argument of child processes, so it is one word and starts with no hyphen.",
        example="profile: my-production",
    ),
    RuleRecord(
        "UC2242",
        "A suppression has a reason.",
        remedy="Write why the warning does not matter here, so that the next reader can judge it.",
        source="Our decision: a suppression without a reason cannot be reviewed.",
    ),
    RuleRecord(
        "UC3101",
        "A zone is specified by its zone ID.",
        remedy="Use the zone ID of the reservation. The letter of a zone name maps to different zones in different accounts.",
        source="AWS Regions and Availability Zones, zone ids.",
        example="zone_id: use2-az3",
    ),
    RuleRecord(
        "UC4107",
        "A Capacity Block is known to be sold for the type in the Region.",
        severity=Severity.WARNING,
        remedy="Use a Region that the finding names, or suppress this when `ultracluster capacity find` shows offers in yours.",
        source="EC2 user guide, Capacity Blocks by Region, 2026-10. Offers were seen in a Region that the page does not list, so this only warns.",
        suppressible=True,
    ),
)
