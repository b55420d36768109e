"""An account on the local AWS in which every check of preflight has something to look at, and passes."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from ultracluster_catalog.cluster_subnet import NODE_SERVICES
from ultracluster_catalog.neuron import ECS_NEURON_AMI_PARAMETER
from ultracluster_cli.preflight_needs import rollout_needs
from ultracluster_local import LocalAws
from ultracluster_local.remote_seed import SeedContainerImage, SeedReservation, seed
from ultracluster_local.services.fsx_state import fsx_of
from ultracluster_local.services.handlers import Request
from ultracluster_local.services.service_quotas import set_quota
from ultracluster_runtime.preflight.needs import RolloutNeeds
from ultracluster_runtime.preflight.reads import Reads
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
        capacity: {{reservation_id: cr-00000000000000001}}
        jobs:
          - {{name: train, image: "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20", command: [t.py]}}
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
        further_capacity:
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
        needs: What the rollout needs of it.
        ids: Ids of what was made, by name.
        key: Access key of the user who deploys.
    """

    local: LocalAws
    needs: RolloutNeeds
    ids: dict[str, str]
    key: tuple[str, str]
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        config = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
        session = boto3.session.Session()

        @cache
        def client(service: str, region: str) -> Any:
            return session.client(
                service,
                region_name=region,
                endpoint_url=self.local.endpoint,
                aws_access_key_id=self.key[0],
                aws_secret_access_key=self.key[1],
                config=config,
            )

        self.client = client

    def reads(self, **changes: Any) -> Reads:
        """Questions to this account, with none answered yet."""
        return Reads(self.client, **{"now": self.now, "seconds": 60.0, **changes})


def build(local: LocalAws, directory: Path) -> World:
    """Make the account."""
    local.reset()
    ids = {**_network(local), **_groups_and_keys(local), **_image(local)}
    ids |= _file_system(local, ids)
    _reservations(local)
    ids["group_arn"] = _resource_group(local)
    _quotas()
    key = _identities(local)
    path = directory / "rollout.yaml"
    path.write_text(ROLLOUT.format(**ids))
    loaded = load_rollout(path)
    clusters = [cluster for wave in loaded.config.waves for cluster in wave.clusters]
    return World(local=local, needs=rollout_needs(clusters, qualifier="hnb659fds"), ids=ids, key=key)


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
    for name, effect, principal in (("public", "Allow", "*"), ("shut", "Deny", {"AWS": "*"})):
        s3.create_bucket(Bucket=f"preflight-{name}", CreateBucketConfiguration=there)
        statement = {"Effect": effect, "Principal": principal, "Action": "s3:GetObject"}
        statement["Resource"] = f"arn:aws:s3:::preflight-{name}/*"
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        s3.put_bucket_policy(Bucket=f"preflight-{name}", Policy=policy)
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
    made = iam.create_access_key(UserName="deployer")["AccessKey"]
    return made["AccessKeyId"], made["SecretAccessKey"]
