v = e.create_volume(AvailabilityZone="us-east-1b", Size=1)["VolumeId"]
e.attach_volume(VolumeId=v, InstanceId=i, Device="/dev/sdf")
