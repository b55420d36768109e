e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
s = e.create_subnet(VpcId=v, CidrBlock="10.1.0.0/24", AvailabilityZone=REGION + "a")["Subnet"]["SubnetId"]
g = e.create_security_group(GroupName="g", Description="g", VpcId=v)["GroupId"]
h = e.create_security_group(GroupName="h", Description="h", VpcId=v)["GroupId"]
e.authorize_security_group_ingress(
    GroupId=h, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": g}]}]
)
e.delete_security_group(GroupId=g)
