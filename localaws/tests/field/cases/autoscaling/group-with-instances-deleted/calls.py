a.delete_auto_scaling_group(AutoScalingGroupName="g")
