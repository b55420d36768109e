ec2 = client("ec2")
vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
ec2.create_flow_logs(
    ResourceIds=[vpc], ResourceType="VPC", TrafficType="ALL", LogDestinationType="s3", LogGroupName="g"
)
