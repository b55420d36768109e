a.put_lifecycle_hook(
    LifecycleHookName="h",
    AutoScalingGroupName="g",
    LifecycleTransition="autoscaling:EC2_INSTANCE_LAUNCHING",
)
member = a.describe_auto_scaling_groups()["AutoScalingGroups"][0]["Instances"][0]["InstanceId"]
a.complete_lifecycle_action(
    LifecycleHookName="h",
    AutoScalingGroupName="g",
    LifecycleActionResult="CONTINUE",
    InstanceId=member,
)
