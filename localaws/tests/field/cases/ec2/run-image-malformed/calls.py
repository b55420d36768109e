client("ec2").run_instances(ImageId="img-1", InstanceType="m5.large", MinCount=1, MaxCount=1)
