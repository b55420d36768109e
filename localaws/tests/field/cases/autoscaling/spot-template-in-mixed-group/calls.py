e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
image = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"][0]["ImageId"]
data = {"ImageId": image, "InstanceType": "c5.large", "InstanceMarketOptions": {"MarketType": "spot"}}
t = e.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)["LaunchTemplate"][
    "LaunchTemplateId"
]
mixed = {"LaunchTemplate": {"LaunchTemplateSpecification": {"LaunchTemplateId": t, "Version": "1"}}}
client("autoscaling").create_auto_scaling_group(
    AutoScalingGroupName="g", MinSize=0, MaxSize=1, VPCZoneIdentifier=subnet, MixedInstancesPolicy=mixed
)
