e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
image = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"][0]["ImageId"]
other = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
far = e.create_security_group(GroupName="far", Description="far", VpcId=other)["GroupId"]
e.run_instances(
    ImageId=image, InstanceType="m5.large", MinCount=1, MaxCount=1, SubnetId=subnet, SecurityGroupIds=[far]
)
