a.create_auto_scaling_group(
    AutoScalingGroupName="g", MinSize=0, MaxSize=1, LaunchTemplate={"LaunchTemplateId": t, "Version": "1"}
)
