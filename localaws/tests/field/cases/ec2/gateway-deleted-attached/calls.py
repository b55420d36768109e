e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
gateway = e.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
e.attach_internet_gateway(VpcId=vpc, InternetGatewayId=gateway)
e.delete_internet_gateway(InternetGatewayId=gateway)
