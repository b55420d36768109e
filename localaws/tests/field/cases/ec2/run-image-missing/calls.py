e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
e.run_instances(
    ImageId="ami-0123456789abcdef0", InstanceType="c5.large", MinCount=1, MaxCount=1, SubnetId=subnet
)
