e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
image = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"][0]["ImageId"]
e.create_launch_template(
    LaunchTemplateName="nodes", LaunchTemplateData={"ImageId": image, "InstanceType": "m5.large"}
)
a = client("autoscaling")
a.create_auto_scaling_group(
    AutoScalingGroupName="g",
    MinSize=0,
    MaxSize=1,
    LaunchTemplate={"LaunchTemplateName": "nodes"},
    VPCZoneIdentifier=subnet,
)
a.put_lifecycle_hook(
    AutoScalingGroupName="g",
    LifecycleHookName="h",
    LifecycleTransition="autoscaling:EC2_INSTANCE_LAUNCHING",
    HeartbeatTimeout=10,
)
