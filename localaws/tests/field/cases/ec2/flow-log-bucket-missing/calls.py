e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
made = e.create_flow_logs(
    ResourceIds=[vpc],
    ResourceType="VPC",
    TrafficType="ALL",
    LogDestinationType="s3",
    LogDestination="arn:aws:s3:::absent-bucket",
)
from botocore.exceptions import ClientError

raise ClientError(made["Unsuccessful"][0], "CreateFlowLogs")
