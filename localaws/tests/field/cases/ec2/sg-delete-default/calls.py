e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
s = e.create_subnet(VpcId=v, CidrBlock="10.1.0.0/24", AvailabilityZone=REGION + "a")["Subnet"]["SubnetId"]
g = e.create_security_group(GroupName="g", Description="g", VpcId=v)["GroupId"]
wanted = [{"Name": "vpc-id", "Values": [v]}, {"Name": "group-name", "Values": ["default"]}]
default = e.describe_security_groups(Filters=wanted)["SecurityGroups"][0]["GroupId"]
e.delete_security_group(GroupId=default)
