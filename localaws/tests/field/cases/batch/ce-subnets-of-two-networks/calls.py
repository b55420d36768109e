w = e.create_vpc(CidrBlock="10.2.0.0/16")["Vpc"]["VpcId"]
r["subnets"] = [s, e.create_subnet(VpcId=w, CidrBlock="10.2.0.0/24")["Subnet"]["SubnetId"]]
b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
