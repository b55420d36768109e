"""AWS ParallelCluster's own template build for a cluster like our quick start; AWS is a stand-in that knows four facts.

python parallelcluster_app.py OUTPUT
"""

import json
import logging
import os
import sys
from pathlib import Path
from unittest.mock import MagicMock

os.environ |= {"AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}

import yaml
from pcluster.aws.aws_api import AWSApi
from pcluster.aws.aws_resources import InstanceTypeInfo
from pcluster.schemas.cluster_schema import ClusterSchema
from pcluster.templates.cdk_builder import CDKTemplateBuilder

CONFIG = """
Region: us-east-1
Image: {Os: alinux2023}
HeadNode:
  InstanceType: c5.xlarge
  Networking: {SubnetId: subnet-0123456789abcdef0}
Scheduling:
  Scheduler: slurm
  SlurmQueues:
    - Name: training
      CapacityType: CAPACITY_BLOCK
      CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}
      ComputeResources:
        - {Name: nodes, InstanceType: trn1.32xlarge, MinCount: 4, MaxCount: 4, Efa: {Enabled: true}}
      Networking: {SubnetIds: [subnet-0123456789abcdef0]}
SharedStorage:
  - Name: fsx
    MountDir: /fsx
    StorageType: FsxLustre
    FsxLustreSettings: {StorageCapacity: 4800, DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250}
"""


def instance_type(name: str) -> InstanceTypeInfo:
    """Say what EC2 would say of an instance type, as far as the build asks."""
    cards = 8 if name.startswith("trn") else 1
    return InstanceTypeInfo(
        {
            "InstanceType": name,
            "VCpuInfo": {"DefaultVCpus": 16 * cards, "DefaultCores": 8 * cards, "DefaultThreadsPerCore": 2},
            "MemoryInfo": {"SizeInMiB": 65536 * cards},
            "NetworkInfo": {
                "EfaSupported": cards > 1,
                "MaximumNetworkCards": cards,
                "MaximumNetworkInterfaces": 5 * cards,
                "DefaultNetworkCardIndex": 0,
                "NetworkCards": [
                    {"NetworkCardIndex": card, "MaximumNetworkInterfaces": 5} for card in range(cards)
                ],
            },
            "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]},
            "SupportedUsageClasses": ["on-demand", "capacity-block"],
            "InstanceStorageSupported": False,
            "EbsInfo": {"EbsOptimizedSupport": "default"},
        }
    )


aws = MagicMock(aws_region="us-east-1")
aws.ec2.get_instance_type_info.side_effect = instance_type
aws.ec2.list_instance_types.return_value = ["c5.xlarge", "trn1.32xlarge"]
aws.ec2.get_official_image_id.return_value = "ami-0123456789abcdef0"
aws.ec2.describe_image.return_value = MagicMock(device_name="/dev/xvda", volume_size=40)
aws.ec2.get_subnet_vpc.return_value = "vpc-0123456789abcdef0"
aws.ec2.get_subnet_avail_zone.return_value = "us-east-1a"
aws.ec2.get_subnets_az_mapping.return_value = {"subnet-0123456789abcdef0": "us-east-1a"}
aws.ec2.get_instance_type_and_reservation_type_from_capacity_reservation.return_value = (
    "trn1.32xlarge",
    "capacity-block",
)
aws.ec2.describe_capacity_block_status.return_value = []
aws.ec2.describe_capacity_reservations.return_value = []
aws.sts.get_account_id.return_value = "123456789012"
AWSApi.instance = staticmethod(lambda: aws)

bucket = MagicMock(artifact_directory="artifacts")
bucket.name = "parallelcluster-bucket"
bucket.get_object_key.side_effect = lambda *_, **__: "artifacts/key"
bucket.get_config_s3_url.return_value = "s3://parallelcluster-bucket/artifacts/config"

logging.disable()
config = ClusterSchema(cluster_name="quickstart").load(yaml.safe_load(CONFIG))
config.source_config = CONFIG
template, assets = CDKTemplateBuilder().build_cluster_template(config, bucket, "quickstart")
templates = [template, *(asset["content"] for asset in assets)]
Path(sys.argv[1]).write_text(json.dumps(templates), encoding="utf-8")
