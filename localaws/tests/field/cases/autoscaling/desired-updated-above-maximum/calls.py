a.update_auto_scaling_group(AutoScalingGroupName="g", DesiredCapacity=10)
