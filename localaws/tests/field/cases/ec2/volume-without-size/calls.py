client("ec2").create_volume(AvailabilityZone="us-east-1a")
