import json

trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
i = client("iam")
i.create_role(RoleName="node", AssumeRolePolicyDocument=json.dumps(trust))
i.create_instance_profile(InstanceProfileName="node")
i.add_role_to_instance_profile(InstanceProfileName="node", RoleName="node")
e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
b = client("batch")
resources = {
    "type": "EC2",
    "minvCpus": 0,
    "maxvCpus": 8,
    "instanceTypes": ["optimal"],
    "subnets": [subnet],
    "securityGroupIds": [group],
    "instanceRole": "node",
}
