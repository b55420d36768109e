client("ec2").create_volume(AvailabilityZone="us-east-1a", Size=20, Iops=15000, VolumeType="gp3")
