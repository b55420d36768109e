e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0")
