"""An account on the local AWS on which every check of preflight applies and passes."""

import json
import re
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends
from moto.kms.models import kms_backends
from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.ledger_table import TABLE, create_table

from ultracluster_catalog.neuron.neuron import ECS_NEURON_AMI_PARAMETER
from ultracluster_catalog.places.cluster_subnet import NODE_SERVICES
from ultracluster_local import LocalAws
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.state import region_state
from ultracluster_local.seeding.seed_client import SeedContainerImage, SeedReservation, seed
from ultracluster_local.services.ec2.capacity_market import capacity_market
from ultracluster_local.services.fsx.state import fsx_of
from ultracluster_local.services.handlers import Request
from ultracluster_local.services.service_quotas import set_quota
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.preflight import subjects
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.purchasing.ledger import order_key, record_item
from ultracluster_runtime.purchasing.orders import OrderState, Record
from ultracluster_runtime.rollout.rehearsal_record import Rehearsal, cluster_digest, write_rehearsal
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import load_rollout

REGION, ZONE = "us-east-2", "use2-az3"
BLOCK = "cr-00000000000000001"
ON_DEMAND = "cr-00000000000000002"
TAG = "2026-11-20"
BUCKET = "preflight-checkpoints"
ROLE = "arn:aws:iam::123456789012:role"

ROLLOUT = """\
version: 1
defaults:
  region: us-east-2
  zone_id: use2-az3
  instance_type: trn2.48xlarge
  nodes: 2
  image_id: {image_id}
waves:
  - name: all
    clusters:
      - name: block
        account: "123456789012"
        submitters: ["arn:aws:iam::123456789012:role/cdk-hnb659fds-cfn-exec-role-123456789012-us-east-2"]
        capacity: {{reservation_id: cr-00000000000000001, order: december}}
        jobs:
          - name: train
            image: "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20"
            command: [t.py]
            mounts: [{{source: "{files_arn}", path: /corpus}}]
      - name: existing
        capacity: {{market_type: on-demand, reservation_id: cr-00000000000000002}}
        network: {{vpc_id: {vpc_id}, subnet_id: {subnet_id}, security_group_id: {group_id}}}
        file_system:
          file_system_id: {file_system_id}
          mount_name: {mount_name}
          zone_id: use2-az3
          security_group_id: {group_id}
          efa: false
        checkpoints: {{bucket_name: preflight-checkpoints, kms_key_arn: "{key_arn}"}}
      - name: demand
        instance_type: trn1.32xlarge
        capacity: {{market_type: on-demand}}
        additional_capacity:
          - {{name: group, market_type: on-demand, resource_group_arn: "{group_arn}"}}
      - name: spot
        instance_type: trn1.32xlarge
        nodes: 1
        capacity: {{market_type: spot}}
        file_system: {{deployment_type: SCRATCH_2, storage_capacity_gib: 1200}}
"""


@dataclass
class World:
    """The account.

    Attributes:
        local: The local AWS.
        selected: The clusters of the rollout.
        ids: Ids of what was made, by name.
        key: Access key of the user who deploys.
    """

    local: LocalAws
    selected: subjects.Account
    ids: dict[str, str]
    key: tuple[str, str]
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        session = boto3.session.Session()

        self.client = Clients(
            partial(
                session.client,
                endpoint_url=self.local.endpoint,
                aws_access_key_id=self.key[0],
                aws_secret_access_key=self.key[1],
            ),
            config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        )

    def reader(self, **changes: Any) -> AwsReader:
        """Questions to this account, with none answered yet."""
        return AwsReader(self.client, **{"now": self.now, "seconds": 60.0, **changes})


@dataclass
class Account:
    """What a case may change: it is as it was before the next case."""

    world: World
    patch: pytest.MonkeyPatch
    selected: subjects.Account
    now_ahead: timedelta = timedelta(0)
    after: ExitStack = field(default_factory=ExitStack)  # takes away what was made

    def change(self, name: str, /, **changes: Any) -> None:
        """Change a cluster."""
        clusters = tuple(
            replace(one, **changes) if one.name == name else one for one in self.selected.clusters
        )
        self.selected = replace(self.selected, clusters=clusters)

    def cluster(self, name: str) -> Cluster:
        return next(one for one in self.selected.clusters if one.name == name)

    def change_part(self, name: str, part: str, /, **changes: Any) -> None:
        """Change one part of a cluster, such as its network."""
        self.change(name, **{part: replace(getattr(self.cluster(name), part), **changes)})

    @property
    def ec2(self) -> Any:
        return ec2_backends[ACCOUNT][REGION]

    def set_quota(self, service: str, code: str, value: float) -> None:
        quotas = region_state("service-quotas", region=REGION, new=dict)
        self.patch.setitem(quotas, (service, code), value)

    def set_reservation(self, reservation_id: str, **changes: Any) -> None:
        reservation = capacity_market(REGION).reservations[reservation_id]
        for name, value in changes.items():
            self.patch.setattr(reservation, name, value)

    def set_segment(self, **changes: Any) -> None:
        segment = capacity_market(REGION).reservations[BLOCK].segment
        self.set_reservation(BLOCK, segment=replace(segment, **changes))

    def hide_role(self, name: str) -> None:
        roles = iam_backends[ACCOUNT]["aws"].roles
        self.patch.delitem(roles, next(key for key, role in roles.items() if role.name == name))

    def set_ami(self, **changes: Any) -> None:
        ami = self.ec2.amis[self.world.ids["image_id"]]
        for name, value in changes.items():
            self.patch.setattr(ami, name, value, raising=False)

    def set_file_system(self, **changes: Any) -> None:
        fsx = fsx_of(Request(operation="", parameters={}, region=REGION))
        for name, value in changes.items():
            self.patch.setitem(fsx.file_systems[self.world.ids["file_system_id"]], name, value)

    @property
    def key(self) -> Any:
        return kms_backends[ACCOUNT][REGION].keys[self.world.ids["key_arn"].rpartition("/")[2]]

    def forget_user(self) -> None:
        """The credentials become those of nobody whom IAM knows."""
        users = iam_backends[ACCOUNT]["aws"].users
        self.patch.delitem(users, next(key for key, user in users.items() if user.name == "deployer"))

    def local_stack(self, name: str) -> None:
        """Let a stack of this name be there."""
        topic = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
        stacks = self.world.local.client("cloudformation", REGION)
        stacks.create_stack(StackName=name, TemplateBody=json.dumps(topic))
        self.after.callback(stacks.delete_stack, StackName=name)

    def deploy_all(self) -> None:
        for cluster in self.selected.clusters:
            self.local_stack(cluster.stacks[0])

    def add_route(self) -> None:
        """Give the route table of the VPC a route to anywhere, by a NAT gateway."""
        ec2 = self.world.local.client("ec2", REGION)
        made = ec2.create_nat_gateway(SubnetId=self.world.ids["elsewhere"], ConnectivityType="private")
        route = {"RouteTableId": self.world.ids["route_table"], "DestinationCidrBlock": "0.0.0.0/0"}
        ec2.create_route(**route, NatGatewayId=made["NatGateway"]["NatGatewayId"])
        self.after.callback(ec2.delete_route, **route)


def build(local: LocalAws, directory: Path) -> World:
    """Make the account."""
    local.reset()
    ids = {**_network(local), **_groups_and_keys(local), **_image(local)}
    ids |= _file_system(local, ids)
    files = {"bucket": f"arn:aws:s3:::{BUCKET}", "roleArn": f"{ROLE}/Files"}
    ids["files_arn"] = local.client("s3files", REGION).create_file_system(**files)["fileSystemArn"]
    _reservations(local)
    ids["group_arn"] = _resource_group(local)
    _quotas()
    _order(local)
    key = _identities(local)
    path = directory / "rollout.yaml"
    path.write_text(ROLLOUT.format(**ids))
    loaded = load_rollout(path)
    clusters = loaded.config.clusters()
    for cluster in clusters:
        record = Rehearsal(digest=cluster_digest(cluster), at=datetime.now(UTC), passed=30, failures=())
        write_rehearsal(local.client("ssm", REGION), cluster.name, record)
    return World(
        local=local,
        selected=subjects.Account(clusters=tuple(clusters), ledger=(TABLE, REGION)),
        ids=ids,
        key=key,
    )


def _network(local: LocalAws) -> dict[str, str]:
    ec2 = local.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    zones = {
        zone["ZoneId"]: zone["ZoneName"] for zone in ec2.describe_availability_zones()["AvailabilityZones"]
    }
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/20", AvailabilityZone=zones[ZONE])["Subnet"][
        "SubnetId"
    ]
    elsewhere = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.16.0/20", AvailabilityZone=zones["use2-az1"])
    small = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.32.0/28", AvailabilityZone=zones[ZONE])
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=[rule])
    bare = ec2.create_security_group(GroupName="bare", Description="bare", VpcId=vpc)["GroupId"]
    tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    gateway = ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName=f"com.amazonaws.{REGION}.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[tables[0]["RouteTableId"]],
    )
    endpoints = [
        ec2.create_vpc_endpoint(
            VpcId=vpc,
            ServiceName=f"com.amazonaws.{REGION}.{service}",
            VpcEndpointType="Interface",
            SubnetIds=[subnet],
            PrivateDnsEnabled=True,
        )["VpcEndpoint"]["VpcEndpointId"]
        for service in NODE_SERVICES
    ]
    return {
        "vpc_id": vpc,
        "subnet_id": subnet,
        "elsewhere": elsewhere["Subnet"]["SubnetId"],
        "small": small["Subnet"]["SubnetId"],
        "group_id": group,
        "bare": bare,
        "route_table": tables[0]["RouteTableId"],
        "gateway": gateway["VpcEndpoint"]["VpcEndpointId"],
        "endpoint": endpoints[0],
    }


def _groups_and_keys(local: LocalAws) -> dict[str, str]:
    there = {"LocationConstraint": REGION}
    s3 = local.client("s3", REGION)
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration=there)
    local.client("s3", "us-west-2").create_bucket(
        Bucket="preflight-elsewhere", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
    )
    s3.create_bucket(Bucket="preflight-public", CreateBucketConfiguration=there)
    statement = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject"}
    statement["Resource"] = "arn:aws:s3:::preflight-public/*"
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    s3.delete_public_access_block(Bucket="preflight-public")  # which new buckets have
    s3.put_bucket_policy(Bucket="preflight-public", Policy=policy)
    return {"key_arn": local.client("kms", REGION).create_key()["KeyMetadata"]["Arn"]}


def _image(local: LocalAws) -> dict[str, str]:
    found = local.client("ssm", REGION).get_parameter(Name=ECS_NEURON_AMI_PARAMETER)
    return {"image_id": found["Parameter"]["Value"]}


def _file_system(local: LocalAws, ids: dict[str, str]) -> dict[str, str]:
    made = local.client("fsx", REGION).create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[ids["subnet_id"]],
        SecurityGroupIds=[ids["group_id"]],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
    )["FileSystem"]
    # The local FSx has no network interfaces of its own.
    interface = local.client("ec2", REGION).create_network_interface(
        SubnetId=ids["subnet_id"], Groups=[ids["group_id"]]
    )["NetworkInterface"]["NetworkInterfaceId"]
    shown = fsx_of(Request(operation="", parameters={}, region=REGION)).file_systems[made["FileSystemId"]]
    shown["NetworkInterfaceIds"] = [interface]
    return {
        "file_system_id": made["FileSystemId"],
        "mount_name": made["LustreConfiguration"]["MountName"],
    }


def _reservations(local: LocalAws) -> None:
    now = datetime.now(UTC)
    common: dict[str, Any] = {"region": REGION, "zone_id": ZONE, "instance_type": "trn2.48xlarge", "count": 2}
    seed(
        endpoint=local.endpoint,
        key=local.key,
        regions=[REGION],
        container_images=[SeedContainerImage(repository="training", tag=TAG, region=REGION)],
        reservations=[
            SeedReservation(
                reservation_id=BLOCK,
                start=now - timedelta(hours=1),
                end=now + timedelta(days=3),
                block=True,
                **common,
            ),
            SeedReservation(
                reservation_id=ON_DEMAND, start=now - timedelta(hours=1), end=None, block=False, **common
            ),
        ],
    )


def _resource_group(local: LocalAws) -> str:
    made = local.client("ec2", REGION).create_capacity_reservation(
        InstanceType="trn1.32xlarge",
        InstancePlatform="Linux/UNIX",
        InstanceCount=2,
        AvailabilityZoneId=ZONE,
    )["CapacityReservation"]
    groups = local.client("resource-groups", REGION)
    group = groups.create_group(
        Name="reservations", Configuration=[{"Type": "AWS::EC2::CapacityReservationPool"}]
    )["Group"]["GroupArn"]
    groups.group_resources(Group=group, ResourceArns=[made["CapacityReservationArn"]])
    return str(group)


def _order(local: LocalAws) -> None:
    dynamodb = local.client("dynamodb", REGION)
    create_table(dynamodb)
    order = block_order()
    record = Record(
        order=order,
        token=order.token,
        state=OrderState.PAID,
        changed_at=datetime.now(UTC),
        reservation_ids=(BLOCK,),
    )
    dynamodb.put_item(TableName=TABLE, Item=record_item(record))
    item = record_item(replace(record, state=OrderState.APPROVED))
    dynamodb.put_item(TableName=TABLE, Item={**item, **order_key("waiting")})


def _quotas() -> None:
    for code in ("L-2C3B7624", "L-6B0D517C"):  # Trn on demand, and Spot
        set_quota(region=REGION, service="ec2", code=code, value=1_000)


def _identities(local: LocalAws) -> tuple[str, str]:
    iam = local.client("iam")
    for service in ("batch", "spot", "fsx"):
        iam.create_service_linked_role(AWSServiceName=f"{service}.amazonaws.com")
    iam.create_user(UserName="deployer")
    may = {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": f"{ROLE}/cdk-*"}
    policy = {"Version": "2012-10-17", "Statement": [may]}
    iam.put_user_policy(UserName="deployer", PolicyName="deploy", PolicyDocument=json.dumps(policy))
    # What docs/reference/preflight.md asks for, apart from the policy that a case takes away.
    page = (Path(__file__).parents[4] / "docs/reference/preflight.md").read_text("utf-8")
    (document,) = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    reads = iam.create_policy(PolicyName="preflight", PolicyDocument=document)["Policy"]["Arn"]
    iam.attach_user_policy(UserName="deployer", PolicyArn=reads)
    made = iam.create_access_key(UserName="deployer")["AccessKey"]
    return made["AccessKeyId"], made["SecretAccessKey"]
