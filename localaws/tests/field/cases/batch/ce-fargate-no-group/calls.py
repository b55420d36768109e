e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
client("batch").create_compute_environment(
    computeEnvironmentName="f",
    type="MANAGED",
    computeResources={"type": "FARGATE", "maxvCpus": 8, "subnets": [subnet]},
)
