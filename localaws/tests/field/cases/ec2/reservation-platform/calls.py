client("ec2").create_capacity_reservation(
    InstanceType="m5.large", InstancePlatform="Plan 9", AvailabilityZone="us-east-1a", InstanceCount=1
)
