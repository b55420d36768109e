e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
gateway = e.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
e.attach_internet_gateway(VpcId=vpc, InternetGatewayId=gateway)
table = e.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
for _ in range(2):
    e.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
