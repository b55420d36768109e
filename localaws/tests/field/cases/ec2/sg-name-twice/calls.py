e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
for _ in range(2):
    e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)
