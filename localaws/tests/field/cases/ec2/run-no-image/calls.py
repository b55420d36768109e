client("ec2").run_instances(InstanceType="m5.large", MinCount=1, MaxCount=1)
