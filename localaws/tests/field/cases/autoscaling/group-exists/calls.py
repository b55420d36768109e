for _ in range(2):
    a.create_auto_scaling_group(
        AutoScalingGroupName="g",
        MinSize=0,
        MaxSize=1,
        VPCZoneIdentifier=subnet,
        LaunchTemplate={"LaunchTemplateId": t, "Version": "1"},
    )
