client("ec2").create_vpc(CidrBlock="10.0.0.0/16", InstanceTenancy="host")
