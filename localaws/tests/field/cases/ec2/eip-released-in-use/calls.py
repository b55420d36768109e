e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
gateway = e.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
e.attach_internet_gateway(VpcId=vpc, InternetGatewayId=gateway)
address = e.allocate_address(Domain="vpc")["AllocationId"]
e.create_nat_gateway(SubnetId=subnet, AllocationId=address)
e.release_address(AllocationId=address)
