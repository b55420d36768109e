import json

b = client("batch")
e = client("ec2")
trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ecs-tasks.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
role = client("iam").create_role(RoleName="task", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
cr = {"type": "FARGATE", "maxvCpus": 8, "subnets": [subnet], "securityGroupIds": [group]}
cp = {
    "image": "busybox",
    "executionRoleArn": role,
    "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "2048"}],
}
