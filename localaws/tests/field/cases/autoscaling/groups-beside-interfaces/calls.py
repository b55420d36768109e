e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
image = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"][0]["ImageId"]
g = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
data = {
    "ImageId": image,
    "InstanceType": "c5.large",
    "SecurityGroupIds": [g],
    "NetworkInterfaces": [{"DeviceIndex": 0, "AssociatePublicIpAddress": False}],
}
t = e.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)["LaunchTemplate"][
    "LaunchTemplateId"
]
a = client("autoscaling")
a.create_auto_scaling_group(
    AutoScalingGroupName="g",
    MinSize=0,
    MaxSize=1,
    VPCZoneIdentifier=subnet,
    LaunchTemplate={"LaunchTemplateId": t, "Version": "1"},
)
