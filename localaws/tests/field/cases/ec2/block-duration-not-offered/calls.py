client("ec2").describe_capacity_block_offerings(
    InstanceType="p5.48xlarge", InstanceCount=1, CapacityDurationHours=25
)
