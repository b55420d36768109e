e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
s = e.create_subnet(VpcId=v, CidrBlock="10.1.0.0/24", AvailabilityZone=REGION + "a")["Subnet"]["SubnetId"]
g = e.create_security_group(GroupName="g", Description="g", VpcId=v)["GroupId"]
ami = e.describe_images(Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}])[
    "Images"
][0]["ImageId"]
nics = [{"DeviceIndex": 0, "SubnetId": s}]
e.run_instances(
    ImageId=ami, InstanceType="m5.large", MinCount=1, MaxCount=1, NetworkInterfaces=nics, SecurityGroupIds=[g]
)
