e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
s = e.create_subnet(VpcId=v, CidrBlock="10.1.0.0/24", AvailabilityZone=REGION + "a")["Subnet"]["SubnetId"]
g = e.create_security_group(GroupName="g", Description="g", VpcId=v)["GroupId"]
b = client("batch")
r = {
    "type": "EC2",
    "minvCpus": 0,
    "maxvCpus": 256,
    "instanceTypes": ["m5"],
    "instanceRole": "ecsInstanceRole",
    "subnets": [s],
    "securityGroupIds": [g],
}
