e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
images = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"]
image = next(one for one in images if one.get("RootDeviceName") and one["BlockDeviceMappings"])
e.run_instances(
    ImageId=image["ImageId"],
    InstanceType="m5.large",
    MinCount=1,
    MaxCount=1,
    SubnetId=subnet,
    BlockDeviceMappings=[{"DeviceName": image["RootDeviceName"], "Ebs": {"VolumeSize": 1}}],
)
