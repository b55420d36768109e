e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
one, two = (e.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in range(2))
e.associate_route_table(RouteTableId=one, SubnetId=subnet)
e.associate_route_table(RouteTableId=two, SubnetId=subnet)
