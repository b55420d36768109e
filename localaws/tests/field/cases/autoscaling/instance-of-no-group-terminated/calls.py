a.terminate_instance_in_auto_scaling_group(
    InstanceId="i-0bba418a2c5c5ed5c", ShouldDecrementDesiredCapacity=False
)
