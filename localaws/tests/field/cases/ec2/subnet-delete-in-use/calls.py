e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
s = e.create_subnet(VpcId=v, CidrBlock="10.1.0.0/24", AvailabilityZone=REGION + "a")["Subnet"]["SubnetId"]
g = e.create_security_group(GroupName="g", Description="g", VpcId=v)["GroupId"]
e.create_vpc_endpoint(
    VpcId=v,
    VpcEndpointType="Interface",
    ServiceName=f"com.amazonaws.{REGION}.logs",
    SubnetIds=[s],
    SecurityGroupIds=[g],
)
e.delete_subnet(SubnetId=s)
