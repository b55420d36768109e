e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
s = e.create_subnet(VpcId=v, CidrBlock="10.1.0.0/24", AvailabilityZone=REGION + "a")["Subnet"]["SubnetId"]
g = e.create_security_group(GroupName="g", Description="g", VpcId=v)["GroupId"]
wanted = [{"Name": "vpc-id", "Values": [v]}, {"Name": "group-name", "Values": ["default"]}]
default = e.describe_security_groups(Filters=wanted)["SecurityGroups"][0]
assert [one["GroupId"] for one in default["IpPermissions"][0]["UserIdGroupPairs"]] == [default["GroupId"]]
assert [one["CidrIp"] for one in default["IpPermissionsEgress"][0]["IpRanges"]] == ["0.0.0.0/0"]
