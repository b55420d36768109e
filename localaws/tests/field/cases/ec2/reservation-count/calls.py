client("ec2").create_capacity_reservation(
    InstanceType="m5.large", InstancePlatform="Linux/UNIX", AvailabilityZone="us-east-1a", InstanceCount=1001
)
