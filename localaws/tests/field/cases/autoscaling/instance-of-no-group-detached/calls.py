i = e.run_instances(ImageId=image, InstanceType="c5.large", SubnetId=subnet, MinCount=1, MaxCount=1)
a.detach_instances(
    AutoScalingGroupName="g",
    InstanceIds=[i["Instances"][0]["InstanceId"]],
    ShouldDecrementDesiredCapacity=False,
)
