"""A cluster in a VPC that the same app creates: its nodes have internet access and share the VPC with other resources.

Change the values below, then: cdk deploy --app "python3 examples/own-vpc/app.py"
"""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from ultracluster import CapacityBlock, ClusterNetwork, UltraCluster

REGION = "us-east-2"
INSTANCE_TYPE, NODES = "trn2.48xlarge", 4
BLOCK = CapacityBlock(reservation_id="cr-0123456789abcdef0", zone_id="use2-az3")  # REPLACE
IMAGE_ID = "ami-0123456789abcdef0"  # REPLACE with the AMI that `ultracluster ami resolve` shows for REGION

app = cdk.App()
stack = cdk.Stack(app, "Training", env=cdk.Environment(region=REGION))
vpc = ec2.Vpc(
    stack,
    "Vpc",
    ip_addresses=ec2.IpAddresses.cidr("10.40.0.0/16"),
    max_azs=1,
    subnet_configuration=[
        ec2.SubnetConfiguration(name="public", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=24),
        ec2.SubnetConfiguration(name="nodes", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS, cidr_mask=20),
    ],
    restrict_default_security_group=False,  # tasks of multi-node jobs are in that group
    # Checkpoints, the compile cache and image layers bypass the NAT gateway, which is billed by the gigabyte.
    gateway_endpoints={"S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3)},
)
# The CDK selects zones by name, and the letters in names differ between accounts. A block is in one zone.
for subnet in (*vpc.public_subnets, *vpc.private_subnets):
    resource = subnet.node.default_child
    assert isinstance(resource, ec2.CfnSubnet)
    resource.availability_zone, resource.availability_zone_id = None, BLOCK.zone_id
# The file system is retained when the stack is deleted, so its network must be retained too.
for kept in (vpc.node.default_child, vpc.private_subnets[0].node.default_child):
    assert isinstance(kept, cdk.CfnResource)
    kept.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
network = ClusterNetwork.from_subnet(
    stack,
    "Network",
    vpc=vpc,
    subnet=vpc.private_subnets[0],
    zone_id=BLOCK.zone_id,
    instance_type=INSTANCE_TYPE,
    node_count=NODES,
    available_addresses=4091,  # a /20 without the five addresses that AWS reserves
)
UltraCluster(
    stack,
    "Cluster",
    instance_type=INSTANCE_TYPE,
    node_count=NODES,
    image_id=IMAGE_ID,
    capacity=BLOCK,
    network=network,
    notify=["you@example.com"],  # notified of lost nodes, idle capacity and the end of the block
)
app.synth()
