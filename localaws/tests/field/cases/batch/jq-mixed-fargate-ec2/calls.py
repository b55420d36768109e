b = client("batch")
e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
s = e.create_subnet(VpcId=v, CidrBlock="10.1.0.0/24")["Subnet"]["SubnetId"]
g = e.create_security_group(GroupName="g", Description="g", VpcId=v)["GroupId"]
b.create_compute_environment(
    computeEnvironmentName="f",
    type="MANAGED",
    computeResources={"type": "FARGATE", "maxvCpus": 4, "subnets": [s], "securityGroupIds": [g]},
)
b.create_compute_environment(
    computeEnvironmentName="u",
    type="MANAGED",
    computeResources={
        "type": "EC2",
        "minvCpus": 0,
        "maxvCpus": 4,
        "subnets": [s],
        "securityGroupIds": [g],
        "instanceTypes": ["optimal"],
        "instanceRole": "ecsInstanceRole",
    },
)
b.create_job_queue(
    jobQueueName="q",
    priority=1,
    computeEnvironmentOrder=[
        {"order": 1, "computeEnvironment": "f"},
        {"order": 2, "computeEnvironment": "u"},
    ],
)
