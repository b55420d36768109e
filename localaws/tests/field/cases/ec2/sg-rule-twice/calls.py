e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
rule = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "IpRanges": [{"CidrIp": "10.0.0.0/16"}]}
for _ in range(2):
    e.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
