client("ec2").modify_vpc_endpoint(VpcEndpointId="vpce-0123456789abcdef0", PrivateDnsEnabled=True)
