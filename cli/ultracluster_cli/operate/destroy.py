"""`ultracluster destroy`: delete the stacks of clusters in an order that AWS accepts, and list the resources that are kept."""

import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Final

import typer
from botocore.exceptions import ClientError

from ultracluster_cli import options
from ultracluster_cli._aws.deployed_template import read_deployed, stack_resources
from ultracluster_cli._aws.target import Target
from ultracluster_cli.deploy.rehearsal_removal import LeftStack, empty_bucket, remove_stacks
from ultracluster_cli.exit_codes import CommandError
from ultracluster_cli.operate.status import open_clusters, stacks_of
from ultracluster_cli.output import echo, print_json, print_table, short_time
from ultracluster_cli.progress import doing, if_interrupted
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_runtime.lifecycle.observations import ENDED
from ultracluster_runtime.lifecycle.reader import chunks, describe_reservation
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
from ultracluster_spec.record import RuleRecord
from ultracluster_stacks import cost

_RETAINING: Final = {"Retain", "RetainExceptOnCreate"}
_COSTS: Final = {"AWS::FSx::FileSystem": "file system", "AWS::S3::Bucket": "buckets"}  # lines of the estimate
# Service, operation and argument that delete a resource, each only after what is in it: EC2 and FSx refuse the others with
# DependencyViolation.
_DELETIONS: Final = {
    "AWS::FSx::DataRepositoryAssociation": ("fsx", "delete_data_repository_association", "AssociationId"),
    "AWS::FSx::FileSystem": ("fsx", "delete_file_system", "FileSystemId"),
    "AWS::EC2::SecurityGroup": ("ec2", "delete_security_group", "GroupId"),
    "AWS::EC2::Subnet": ("ec2", "delete_subnet", "SubnetId"),
    "AWS::EC2::VPC": ("ec2", "delete_vpc", "VpcId"),
    "AWS::S3::Bucket": ("s3", "delete_bucket", "Bucket"),
    "AWS::DynamoDB::Table": ("dynamodb", "delete_table", "TableName"),
    "AWS::Logs::LogGroup": ("logs", "delete_log_group", "logGroupName"),
}
_FREE: Final = frozenset({"AWS::EC2::SecurityGroup", "AWS::EC2::Subnet", "AWS::EC2::VPC"})
_DATA: Final = frozenset(
    {"AWS::FSx::FileSystem", "AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Logs::LogGroup"}
)
_PARTS: Final = frozenset(
    {"AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"}
)  # go with their group
_PROTECTED_AT_ONCE: Final = 50  # SetInstanceProtection, API Reference, read 2026-11
_POLL_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 1_800.0  # FSx deletes a file system within minutes


def destroy(
    rollout: options.RolloutArgument,
    *,
    cluster: options.ClustersOption = None,
    local: options.LocalOption = False,
    delete_data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLUSTER",
            help="Type the name of a cluster to delete its data too: file system, buckets, logs; repeatable.",
        ),
    ] = None,
    yes: options.YesOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Delete the stacks of clusters, and list the retained resources with their monthly cost.

    Data is kept unless --delete-data names its cluster. Capacity Blocks are paid for until their end and cannot be
    cancelled.
    """
    clusters, targets = open_clusters(rollout, cluster or [], local=local)
    names = [config.name for config in clusters]
    if unknown := [name for name in delete_data or () if name not in names]:
        problem = f"--delete-data got {quote(unknown[0])}"
        raise FindingsError.message(problem, allowed=", ".join(names))
    with doing("Reading the stacks"):
        deployments = [
            _Deployed(config, targets.of(config.stage), delete_data=config.name in (delete_data or ()))
            for config in clusters
        ]
    deployments = [deployed for deployed in deployments if deployed.stacks]
    if not deployments:
        echo("Nothing is deployed.")
        if delete_data:
            echo("To delete what an earlier destroy has kept, see `ultracluster docs storage`.")
    reject(
        deployed.refuse_to_lose() for deployed in deployments if deployed.lost and not deployed.delete_data
    )
    if not as_json:
        for deployed in deployments:
            deployed.show()
    if deployments and not (yes or local):
        stages = ", ".join(deployed.config.stage for deployed in deployments)
        data = f" AND THE DATA of {', '.join(delete_data)}" if delete_data else ""
        typer.confirm(f"Delete {stages}{data} in {targets.name}?", abort=True, err=True)
    for deployed in deployments:
        deployed.delete()
    if as_json:
        print_json(clusters=[deployed.as_json() for deployed in deployments])
    elif deployments:
        kept = any(deployed.kept for deployed in deployments)
        echo("Everything else is deleted." if kept else "Everything is deleted.")


class _Deployed:
    """The stacks of a cluster, and what stays when they are deleted."""

    def __init__(self, config: Cluster, target: Target, *, delete_data: bool) -> None:
        self.config = config
        self.delete_data = delete_data
        self._target = target
        self._client = target.client.in_region(config.region)
        cloudformation = self._client("cloudformation")
        self.stacks = [
            LeftStack(region=config.region, name=stack["name"], stack_id=stack["id"], status=stack["status"])
            for stack in stacks_of(config, cloudformation)
        ]
        self.kept: list[tuple[str, str]] = []
        self.lost: list[tuple[str, str]] = []
        for stack in self.stacks:
            for kind, physical_id, policy in _with_policies(stack.name, cloudformation):
                if policy in _RETAINING:
                    self.kept.append((kind, physical_id))
                elif policy == "Delete" and kind in _DATA:
                    self.lost.append((kind, physical_id))

    def refuse_to_lose(self) -> Finding:
        """Return the finding for data that the stacks would delete although `--delete-data` does not name the cluster."""
        name = self.config.name
        what = ", ".join(physical_id for _, physical_id in self.lost)
        return Finding(
            code="UC9019",
            problem=f"removal_policy of {name} is destroy: its stacks delete {what} with all data",
            remedy=f"To delete the data, pass --delete-data {name}; to keep it, first deploy removal_policy: retain",
            path=name,
        )

    def show(self) -> None:
        """Print what will be deleted and what stays."""
        title = f"{self.config.stage}: {len(self.stacks)} stacks will be deleted"
        print_table([{"stack": stack.name, "status": stack.status} for stack in self.stacks], title=title)
        if self.lost:
            lost = [{"id": physical_id, "resource": _name(kind)} for kind, physical_id in self.lost]
            print_table(lost, title="DELETED WITH THEIR DATA by the stacks")
        rows = self.kept_rows()
        if rows and self.delete_data:
            print_table(rows, columns=["id", "resource"], title="DELETED WITH THEIR DATA")
        elif rows:
            columns = ["id", "resource", "usd_per_month"]
            print_table(rows, columns=columns, title="Kept; what costs is paid for until you delete it")
            echo(f"To delete these too: --delete-data {self.config.name}")
        for _, capacity in self.config.sources():
            if capacity.reservation_id and capacity.market_type == "capacity-block":
                echo(self._block(capacity.reservation_id))

    def _block(self, block: str) -> str:
        """Return a sentence about what stays of a Capacity Block."""
        try:
            described = describe_reservation(self._client("ec2"), block)
        except AWS_ERRORS as error:
            return f"Whether {block} has ended could not be read ({problem_of(error)}); a Capacity Block cannot be cancelled."
        if described is None or described["State"] in ENDED:
            state = described["State"] if described else "no longer known to EC2"
            return f"{block} has ended ({state}): nothing is paid for it any more."
        end = f" {short_time(described['EndDate'])}" if described.get("EndDate") else ""
        return f"{block} stays yours until its end{end}: a Capacity Block cannot be cancelled."

    def kept_rows(self) -> list[dict[str, Any]]:
        """Return what stays as rows, with the list price of those that cost by what they are."""
        estimate = cost.estimate_cost(
            cost.configured_footprint(self.config),
            usage=cost.Usage(hours=Decimal(cost.HOURS_OF_A_MONTH)),
            prices=cost.catalogue_prices(),
        )
        prices = {line.name: line.month(estimate.usage).text() for line in estimate.lines}
        return [
            {
                "resource": _name(kind),
                "id": physical_id,
                "usd_per_month": "free" if kind in _FREE else prices.get(_COSTS.get(kind, ""), "by use"),
            }
            for kind, physical_id in self.kept
            if kind not in _PARTS
        ]

    def delete(self) -> None:
        """Delete the stacks, the last deployed first, then the data."""
        again = f"ultracluster destroy --cluster {self.config.name}"
        note = f"CloudFormation finishes the stack that it is deleting; the rest stays. To continue: {again}"
        with if_interrupted(note):
            for stack in self.stacks:
                end_nodes(stack.name, self._client)
            empty = self.delete_data and bool(self.lost)
            remove_stacks(self._target.client, self.stacks, empty=empty, again=again)
            if self.delete_data:
                self._delete_kept()

    def _delete_kept(self) -> None:
        findings = []
        left = []
        for kind, physical_id in sorted(self.kept, key=lambda kept: [*_DELETIONS, kept[0]].index(kept[0])):
            if kind in _PARTS:
                continue
            echo(f"Deleting {_name(kind)} {physical_id}")
            try:
                deleted = self._delete_one(kind, physical_id)
            except (*AWS_ERRORS, TimeoutError) as error:
                problem = f"{kind} {physical_id} still exists: {problem_of(error)}"
                findings.append(Finding.message(problem))
                deleted = False
            if not deleted:
                left.append((kind, physical_id))
        self.kept = left
        if findings:
            raise CommandError(findings)

    def _delete_one(self, kind: str, physical_id: str) -> bool:
        if kind not in _DELETIONS:
            echo(f"{kind} {physical_id} is kept: delete it yourself if you do not need it.")
            return False
        service, operation, argument = _DELETIONS[kind]
        client = self._client(service)
        if kind == "AWS::S3::Bucket":
            empty_bucket(client, physical_id)
        is_link = kind == "AWS::FSx::DataRepositoryAssociation"
        keep_files = {"DeleteDataInFileSystem": False} if is_link else {}
        getattr(client, operation)(**{argument: physical_id}, **keep_files)
        if is_link:
            associations = partial(client.describe_data_repository_associations, AssociationIds=[physical_id])
            _wait(lambda: associations()["Associations"])
        elif kind == "AWS::FSx::FileSystem":
            _wait(lambda: client.describe_file_systems(FileSystemIds=[physical_id])["FileSystems"])
        return True

    def as_json(self) -> dict[str, Any]:
        """Return what was deleted and what is kept as plain values."""
        return {
            "cluster": self.config.name,
            "region": self.config.region,
            "deleted_stacks": [stack.name for stack in self.stacks],
            "data_deleted": self.delete_data,
            "kept": self.kept_rows(),
        }


def end_nodes(stack: str, client: Clients) -> None:
    """End the nodes of the Auto Scaling groups of a stack.

    CloudFormation cannot delete a group while nodes are protected from scaling in (aws/aws-cdk#18179).
    """
    autoscaling = client("autoscaling")

    def nodes(group: str) -> list[str]:
        answer = autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[group])
        members = [node for described in answer["AutoScalingGroups"] for node in described["Instances"]]
        protected = [node["InstanceId"] for node in members if node["ProtectedFromScaleIn"]]
        for ids in chunks(protected, _PROTECTED_AT_ONCE):
            autoscaling.set_instance_protection(
                AutoScalingGroupName=group, InstanceIds=ids, ProtectedFromScaleIn=False
            )
        return [node["InstanceId"] for node in members]

    for resource in stack_resources(stack, client("cloudformation")):
        if resource["ResourceType"] == "AWS::AutoScaling::AutoScalingGroup":
            group = resource["PhysicalResourceId"]
            # A maximum of 0 also keeps the life cycle of a Capacity Block from starting them again.
            autoscaling.update_auto_scaling_group(
                AutoScalingGroupName=group, MinSize=0, MaxSize=0, DesiredCapacity=0
            )
            try:
                with doing(f"Ending the nodes of {group}"):
                    _wait(partial(nodes, group))
            except TimeoutError:
                problem = f"nodes of Auto Scaling group {group} are still running"
                remedy = "Terminate them, and run this command again"
                raise CommandError.message(problem, remedy=remedy) from None


def _name(kind: str) -> str:
    return kind.rpartition("::")[2]


def _with_policies(stack: str, cloudformation: Any) -> Iterator[tuple[str, str, str]]:
    """Yield types, IDs and deletion policies of the resources of a stack that have one."""
    template = read_deployed(stack, cloudformation).template or {}
    for resource in stack_resources(stack, cloudformation):
        declared = template.get("Resources", {}).get(resource["LogicalResourceId"], {})
        if policy := declared.get("DeletionPolicy"):
            yield resource["ResourceType"], resource["PhysicalResourceId"], policy


def _wait(describe: Any) -> None:
    """Wait until nothing is left of what was deleted, or raise a TimeoutError after half an hour."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            remaining: Sequence[Any] = describe()
        except ClientError as error:
            if "NotFound" in error.response["Error"]["Code"]:
                return
            raise
        if not remaining:
            return
        time.sleep(_POLL_SECONDS)
    raise TimeoutError("it is still being deleted")


RECORDS: Final = (
    RuleRecord(
        "UC9019",
        "Data that stacks delete is lost only if the name of the cluster is typed.",
        remedy="Type the name of the cluster with --delete-data, or first deploy `removal_policy: retain`.",
        source="Our decision: no command loses checkpoints by a key that was set months ago.",
    ),
)
