e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
e.create_flow_logs(ResourceIds=[vpc], ResourceType="VPC", TrafficType="ALL", LogGroupName="flows")
