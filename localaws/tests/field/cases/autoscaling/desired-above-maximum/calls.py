a.create_auto_scaling_group(
    AutoScalingGroupName="g",
    MinSize=1,
    MaxSize=2,
    DesiredCapacity=3,
    VPCZoneIdentifier=subnet,
    LaunchTemplate={"LaunchTemplateId": t, "Version": "1"},
)
