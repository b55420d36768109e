e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
other = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
groups = [
    e.create_security_group(GroupName="nodes", Description="nodes", VpcId=one)["GroupId"]
    for one in (vpc, other)
]
rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": groups[1]}]}
e.authorize_security_group_ingress(GroupId=groups[0], IpPermissions=[rule])
