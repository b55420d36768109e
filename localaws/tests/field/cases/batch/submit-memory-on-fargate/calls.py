e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
b = client("batch")
b.create_compute_environment(
    computeEnvironmentName="f",
    type="MANAGED",
    computeResources={"type": "FARGATE", "maxvCpus": 8, "subnets": [subnet], "securityGroupIds": [group]},
)
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "f"}]
)
b.register_job_definition(
    jobDefinitionName="j",
    type="container",
    platformCapabilities=["FARGATE"],
    containerProperties={
        "image": "busybox",
        "executionRoleArn": "arn:aws:iam::123456789012:role/x",
        "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "2048"}],
    },
)
b.submit_job(jobName="a", jobQueue="q", jobDefinition="j", containerOverrides={"memory": 4096})
