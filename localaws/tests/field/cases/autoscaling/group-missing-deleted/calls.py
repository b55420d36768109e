client("autoscaling").delete_auto_scaling_group(AutoScalingGroupName="absent")
