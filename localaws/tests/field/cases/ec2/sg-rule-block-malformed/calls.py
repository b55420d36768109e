e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
e.authorize_security_group_ingress(
    GroupId=group,
    IpPermissions=[
        {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 2, "IpRanges": [{"CidrIp": "10.0.0.0/33"}]}
    ],
)
