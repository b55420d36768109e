e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
i = e.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
e.attach_internet_gateway(InternetGatewayId=i, VpcId=v)
e.delete_vpc(VpcId=v)
