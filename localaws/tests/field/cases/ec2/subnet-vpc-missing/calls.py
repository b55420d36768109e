client("ec2").create_subnet(VpcId="vpc-0123456789abcdef0", CidrBlock="10.0.0.0/24")
