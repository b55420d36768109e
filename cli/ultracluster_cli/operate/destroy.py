"""`ultracluster destroy`: delete the stacks of clusters in an order that AWS accepts, and list the resources that are kept."""

import time
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Final

import typer
from botocore.exceptions import ClientError

from ultracluster_cli import options
from ultracluster_cli._aws.deployed_template import read_deployed, stack_resources
from ultracluster_cli._aws.target import Target
from ultracluster_cli.operate.status import open_clusters, stacks_of
from ultracluster_cli.output import print_json, print_table, say
from ultracluster_cli.progress import doing, if_interrupted
from ultracluster_cli.rehearse.removal import LeftStack, empty_bucket, remove_stacks
from ultracluster_rules.findings import Finding, FindingsError, quote, reject
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_runtime.lifecycle.reader import chunks
from ultracluster_stacks import cost
from ultracluster_stacks.config import ClusterConfig

app = typer.Typer(add_completion=False)

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
_DATA: Final = frozenset(
    {"AWS::FSx::FileSystem", "AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Logs::LogGroup"}
)
_PARTS: Final = frozenset(
    {"AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"}
)  # go with their group
_PROTECTED_AT_ONCE: Final = 50  # SetInstanceProtection, API Reference, read 2026-11
_POLL_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 1_800.0  # FSx deletes a file system within minutes


@app.command()
def destroy(
    rollout: options.OptionalRolloutArgument = None,
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
    doomed = delete_data or []
    with open_clusters(rollout, cluster or [], local=local) as (clusters, targets):
        names = [one.name for one in clusters]
        if unknown := [name for name in doomed if name not in names]:
            problem = f"--delete-data got {quote(unknown[0])}"
            raise FindingsError.of("UC9017", problem, allowed=", ".join(names))
        with doing("Reading the stacks"):
            found = [_Deployed(one, targets.of(one.stage)) for one in clusters]
        found = [one for one in found if one.stacks]
        if not found:
            say("Nothing is deployed.")
            if doomed:
                say("To delete what an earlier destroy has kept, see `ultracluster docs storage`.")
        reject(one.refuse_to_lose() for one in found if one.lost and one.config.name not in doomed)
        if not as_json:
            for one in found:
                one.show(delete_data=one.config.name in doomed)
        if found and not (yes or local):
            what = ", ".join(one.config.stage for one in found)
            data = f" AND THE DATA of {', '.join(doomed)}" if doomed else ""
            typer.confirm(f"Delete {what}{data} in {targets.name}?", abort=True, err=True)
        for one in found:
            one.delete(delete_data=one.config.name in doomed)
        if as_json:
            print_json({"clusters": [one.as_json(delete_data=one.config.name in doomed) for one in found]})
        elif found:
            say("Everything else is deleted." if any(one.kept for one in found) else "Everything is deleted.")


class _Deployed:
    """The stacks of a cluster, and what stays when they are deleted."""

    def __init__(self, config: ClusterConfig, target: Target) -> None:
        self.config = config
        self._target = target
        cloudformation = self._client("cloudformation")
        self.stacks = [
            LeftStack(region=config.region, name=stack["name"], stack_id=stack["id"], status=stack["status"])
            for stack in stacks_of(config, cloudformation)
        ]
        resources = [each for stack in self.stacks for each in _with_policies(stack.name, cloudformation)]
        self.kept = [(kind, physical_id) for kind, physical_id, policy in resources if policy in _RETAINING]
        self.lost = [
            (kind, physical_id)
            for kind, physical_id, policy in resources
            if policy == "Delete" and kind in _DATA
        ]

    def _client(self, service: str) -> Any:
        return self._target.client(service, self.config.region)

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

    def show(self, *, delete_data: bool) -> None:
        """Print what will be deleted and what stays."""
        title = f"{self.config.stage}: {len(self.stacks)} stacks will be deleted"
        print_table(
            columns=["stack", "status"],
            rows=[{"stack": s.name, "status": s.status} for s in self.stacks],
            title=title,
        )
        if self.lost:
            lost = [{"resource": kind.rpartition("::")[2], "id": each} for kind, each in self.lost]
            print_table(columns=["id", "resource"], rows=lost, title="DELETED WITH THEIR DATA by the stacks")
        rows = self.kept_rows()
        if rows and delete_data:
            print_table(columns=["id", "resource"], rows=rows, title="DELETED WITH THEIR DATA")
        elif rows:
            columns = ["id", "resource", "usd_per_month"]
            print_table(columns=columns, rows=rows, title="Kept, and paid for until you delete them")
            say(f"To delete these too: --delete-data {self.config.name}")
        for _, capacity in self.config.sources():
            if capacity.reservation_id and capacity.market_type == "capacity-block":
                say(
                    f"{capacity.reservation_id} stays yours until its end: a Capacity Block cannot be cancelled."
                )

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
                "resource": kind.rpartition("::")[2],
                "id": physical_id,
                "usd_per_month": prices.get(_COSTS[kind], "by use") if kind in _COSTS else None,
            }
            for kind, physical_id in self.kept
            if kind not in _PARTS
        ]

    def delete(self, *, delete_data: bool) -> None:
        """Delete the stacks, the last deployed first, then the data."""
        again = f"ultracluster destroy --cluster {self.config.name}"
        note = f"CloudFormation finishes the stack that it is deleting; the rest stays. To continue: {again}"
        with if_interrupted(note):
            for stack in self.stacks:
                end_nodes(stack.name, self._client)
            empty = delete_data and bool(self.lost)
            remove_stacks(self._target.client, self.stacks, empty=empty, again=again)
            if delete_data:
                self._delete_data()

    def _delete_data(self) -> None:
        findings = []
        left = []
        for kind, physical_id in sorted(self.kept, key=lambda kept: [*_DELETIONS, kept[0]].index(kept[0])):
            if kind in _PARTS:
                continue
            say(f"Deleting {kind.rpartition('::')[2]} {physical_id}")
            try:
                deleted = self._delete_one(kind, physical_id)
            except (*AWS_ERRORS, TimeoutError) as error:
                problem = f"{kind} {physical_id} still exists: {problem_of(error)}"
                findings.append(Finding(code="UC9018", problem=problem))
                deleted = False
            if not deleted:
                left.append((kind, physical_id))
        self.kept = left
        reject(findings)

    def _delete_one(self, kind: str, physical_id: str) -> bool:
        if kind not in _DELETIONS:
            say(f"{kind} {physical_id} is kept: delete it yourself if you do not need it.")
            return False
        service, operation, argument = _DELETIONS[kind]
        client = self._client(service)
        if kind == "AWS::S3::Bucket":
            empty_bucket(client, physical_id)
        is_link = kind == "AWS::FSx::DataRepositoryAssociation"
        keep_files = {"DeleteDataInFileSystem": False} if is_link else {}
        getattr(client, operation)(**{argument: physical_id}, **keep_files)
        if is_link:
            _wait(
                lambda: client.describe_data_repository_associations(AssociationIds=[physical_id])[
                    "Associations"
                ]
            )
        elif kind == "AWS::FSx::FileSystem":
            _wait(lambda: client.describe_file_systems(FileSystemIds=[physical_id])["FileSystems"])
        return True

    def as_json(self, *, delete_data: bool) -> dict[str, Any]:
        """Return what was deleted and what is kept as plain values."""
        return {
            "cluster": self.config.name,
            "region": self.config.region,
            "deleted_stacks": [stack.name for stack in self.stacks],
            "data_deleted": delete_data,
            "kept": self.kept_rows(),
        }


def end_nodes(stack: str, client: Callable[[str], Any]) -> None:
    """End the nodes of the Auto Scaling groups of a stack.

    CloudFormation cannot delete a group while nodes are protected from scaling in (aws/aws-cdk#18179).
    """
    autoscaling = client("autoscaling")

    def nodes(group: str) -> list[str]:
        found = autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[group])["AutoScalingGroups"]
        members = [node for one in found for node in one["Instances"]]
        protected = [node["InstanceId"] for node in members if node["ProtectedFromScaleIn"]]
        for some in chunks(protected, _PROTECTED_AT_ONCE):
            autoscaling.set_instance_protection(
                AutoScalingGroupName=group, InstanceIds=some, ProtectedFromScaleIn=False
            )
        return [node["InstanceId"] for node in members]

    for _, kind, group in _resources(stack, client("cloudformation")):
        if kind == "AWS::AutoScaling::AutoScalingGroup":
            # A maximum of 0 also keeps the life cycle of a Capacity Block from starting them again.
            autoscaling.update_auto_scaling_group(
                AutoScalingGroupName=group, MinSize=0, MaxSize=0, DesiredCapacity=0
            )
            try:
                with doing(f"Ending the nodes of {group}"):
                    _wait(partial(nodes, group))
            except TimeoutError:
                problem = f"nodes of Auto Scaling group {group} are still running"
                raise FindingsError.of(
                    "UC9018", problem, remedy="Terminate them, and run this command again"
                ) from None


def _with_policies(stack: str, cloudformation: Any) -> Iterator[tuple[str, str, str]]:
    """Return types, IDs and deletion policies of the resources of a stack that have one."""
    template = read_deployed(stack, cloudformation).template or {}
    policies = {
        logical_id: resource.get("DeletionPolicy")
        for logical_id, resource in template.get("Resources", {}).items()
    }
    for logical_id, kind, physical_id in _resources(stack, cloudformation):
        if policy := policies.get(logical_id):
            yield kind, physical_id, policy


def _resources(stack: str, cloudformation: Any) -> Iterator[tuple[str, str, str]]:
    """Return the logical IDs, types and physical IDs of the resources of a stack that exist."""
    for resource in stack_resources(stack, cloudformation):
        if resource.get("PhysicalResourceId") and resource.get("ResourceStatus") != "DELETE_COMPLETE":
            yield resource["LogicalResourceId"], resource["ResourceType"], resource["PhysicalResourceId"]


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
