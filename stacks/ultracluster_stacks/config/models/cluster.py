"""A cluster of the rollout: one UltraCluster in one zone of one Region."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import ZONE_ID
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_rules.images import AMI
from ultracluster_rules.machines import get_instance_type
from ultracluster_rules.names import REGION
from ultracluster_stacks.config.models.alarms import AlarmsConfig
from ultracluster_stacks.config.models.buckets import CheckpointsConfig, DatasetConfig
from ultracluster_stacks.config.models.budget import BudgetConfig
from ultracluster_stacks.config.models.capacity import CapacityConfig, FurtherCapacityConfig, NodeCount
from ultracluster_stacks.config.models.compile_cache import CompileCacheConfig
from ultracluster_stacks.config.models.constraints import Form, constraint
from ultracluster_stacks.config.models.file_system import FileSystemConfig
from ultracluster_stacks.config.models.job import JobConfig
from ultracluster_stacks.config.models.keys import KeyArn
from ultracluster_stacks.config.models.machine import InstanceTypeName, OwnInstanceType
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name
from ultracluster_stacks.config.models.network import NetworkConfig
from ultracluster_stacks.config.models.permissions import PolicyRef, RolePathText
from ultracluster_stacks.config.models.queue import FurtherQueueConfig, QueueConfig
from ultracluster_stacks.config.models.suppression import Suppress
from ultracluster_stacks.config.models.tags import Tags
from ultracluster_stacks.config.reading.problem import Loc

__all__ = ["ClusterConfig"]


def _explain_zone_id(value: str) -> str:
    if value[:-1].strip().lower() in REGIONS:
        return (
            "This is a zone name, whose letter means another zone in each account; "
            "`aws ec2 describe-availability-zones` shows its zone id"
        )
    return ""


def _explain_account(value: str) -> str:
    return "Write the 12 digits without hyphens or spaces" if value.isascii() and "-" in value else ""


class ClusterConfig(ConfigModel):
    """One UltraCluster: nodes of one type in one zone, with their network, file system and jobs."""

    name: Name = Field(description="Name of the cluster, once in a Region: lower case, digits and hyphens.")
    region: Annotated[
        str,
        constraint(REGION),
    ] = Field(description="Region of the cluster, such as us-east-2.")
    account: (
        Annotated[
            str,
            Form(
                code="UC2104",
                pattern="[0-9]{12}",
                allowed='12 digits in quotes, such as "123456789012"',
                explain=_explain_account,
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="Account to deploy to: 12 digits in quotes. Default: the account of the credentials.",
    )
    profile: (
        Annotated[
            str,
            Form(
                code="UC2230",
                pattern=r"[A-Za-z0-9_][A-Za-z0-9_.@+/-]{0,127}",
                allowed="the name of a profile of the AWS configuration, such as production",
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="Profile of the AWS configuration with which `plan`, `preflight`, `deploy`, `rollout`, `ami resolve`, "
        "`advise` and `cost actual` reach the account of the cluster. It is in no template. Default: the credentials of the shell.",
    )
    permissions_boundary: PolicyRef | None = Field(
        default=None,
        description="Policy of the account that bounds what every role of the cluster may do: its name or its ARN. Default: none.",
    )
    role_path: RolePathText | None = Field(
        default=None,
        description="IAM path of the roles and instance profiles of the cluster, such as /training/. Another path in an existing "
        "deployment replaces them, and the nodes with them. Default: /.",
    )
    kms_key_arn: KeyArn | None = Field(
        default=None,
        description="ARN of the KMS key of everything new that has no `kms_key_arn` of its own: buckets, file system, root volumes, logs "
        "and topics. Its policy must let the services use it (docs/security.md). In an existing deployment it replaces the file "
        "system. Default: keys of AWS.",
    )
    zone_id: Annotated[
        str,
        Form(
            code="UC3101",
            pattern=ZONE_ID,
            allowed="a zone id, such as use2-az3",
            explain=_explain_zone_id,
        ),
    ] = Field(description="Zone id of the Availability Zone of the capacity, such as use2-az3.")
    own_instance_type: OwnInstanceType | None = Field(
        default=None,
        description="Figures of an instance type that this project does not know yet, or knows less well. They replace "
        "those of the catalogue, with a warning. Default: those of the catalogue.",
    )
    instance_type: InstanceTypeName = Field(description="Instance type of the nodes, such as trn2.48xlarge.")
    nodes: NodeCount = Field(
        description="Most nodes at one time, 1 to 1,000; 64 in a Capacity Block. With `further_capacity`: from each of "
        "them that has no `max_nodes`."
    )
    image_id: Annotated[
        str,
        constraint(AMI),
    ] = Field(description="AMI of the nodes, pinned by its id, which is another in each Region.")
    capacity: CapacityConfig = Field(
        default_factory=CapacityConfig.model_construct, description="How the instances are bought."
    )
    further_capacity: tuple[FurtherCapacityConfig, ...] = Field(
        default=(),
        description="More capacity in order of preference, for when `capacity` has no room: each with its own compute "
        "environment. A multi-node job goes on to it only when what stands before is closed or too small. "
        "Default: none.",
    )
    queue: QueueConfig = Field(
        default_factory=QueueConfig.model_construct,
        description="The queue of the cluster: priority, shares, limits.",
    )
    further_queues: tuple[FurtherQueueConfig, ...] = Field(
        default=(), description="More queues over the same nodes. Default: none."
    )
    network: NetworkConfig = Field(
        default_factory=NetworkConfig.model_construct, description="Addresses and network interfaces."
    )
    scratch_path: str | None = Field(
        default=None,
        description="Where the instance-store disks of a node are mounted as one, on the node and in its jobs, such as "
        "/scratch. What is on them is lost with the node. The AMI must hold mdadm. Default: they are left as they are.",
    )
    file_system: FileSystemConfig = Field(
        default_factory=FileSystemConfig.model_construct, description="The FSx for Lustre file system."
    )
    checkpoints: CheckpointsConfig = Field(
        default_factory=CheckpointsConfig.model_construct, description="The bucket of the checkpoints."
    )
    datasets: tuple[DatasetConfig, ...] = Field(
        default=(), description="Buckets with training data, which the jobs may read."
    )
    compile_cache: CompileCacheConfig = Field(
        default_factory=CompileCacheConfig.model_construct,
        description="Where compiled graphs are kept, and for how long.",
    )
    jobs: tuple[JobConfig, ...] = Field(default=(), description="The job definitions of the cluster.")
    budget: BudgetConfig | None = Field(
        default=None, description="The monthly budget of the cluster. Default: none."
    )
    alarms: AlarmsConfig | None = Field(
        default=None,
        description="Alarms, and with them the metrics of nodes, queue and paid capacity, and a dashboard. Default: nobody looks.",
    )
    tags: Tags = Field(
        default_factory=dict,
        description="Tags of every resource of the cluster, up to 40.",
    )

    suppress: Suppress = Field(
        default_factory=dict,
        description="Warnings that do not matter here: the code of each and the reason. They are not shown, by no "
        "command; `ultracluster validate --json` lists them. Default: none.",
    )

    @property
    def stage(self) -> str:
        """Name of its CDK stage, such as ``training-us-east-2``, which is unique in the rollout."""
        return f"{self.name}-{self.region}"

    @property
    def machine(self) -> InstanceType:
        """The instance type of the nodes, from the catalogue or from `own_instance_type`."""
        own = self.own_instance_type
        return get_instance_type(self.instance_type if own is None else own.entry(self.instance_type))

    def sources(self) -> Iterator[tuple[Loc, CapacityConfig]]:
        """Iterate over all capacity in order of preference, each with its place in the cluster."""
        yield ("capacity",), self.capacity
        for index, capacity in enumerate(self.further_capacity):
            yield ("further_capacity", index), capacity

    @property
    def most_nodes(self) -> int:
        """The most nodes at one time, from all capacity together."""
        return sum(self.nodes_from(capacity) for _, capacity in self.sources())

    def nodes_from(self, capacity: CapacityConfig) -> int:
        """Return the most nodes at one time from one capacity of the cluster."""
        return capacity.max_nodes or self.nodes
