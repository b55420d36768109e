e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
e.create_vpc_endpoint(VpcId=v, ServiceName=f"com.amazonaws.{REGION}.s3")
found = e.describe_vpc_endpoints(Filters=[{"Name": "vpc-id", "Values": [v]}])["VpcEndpoints"][0]
names = ("IpAddressType", "PrivateDnsEnabled", "RequesterManaged", "VpcEndpointType")
assert [found.get(name) for name in names] == ["ipv4", False, False, "Gateway"]
