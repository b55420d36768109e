e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
table = e.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
e.associate_route_table(RouteTableId=table, SubnetId=subnet)
e.delete_route_table(RouteTableId=table)
