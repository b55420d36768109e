e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
gateway = e.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
other = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
e.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
e.attach_internet_gateway(InternetGatewayId=gateway, VpcId=other)
