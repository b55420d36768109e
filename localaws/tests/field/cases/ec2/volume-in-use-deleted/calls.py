v = e.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
e.attach_volume(VolumeId=v, InstanceId=i, Device="/dev/sdf")
e.delete_volume(VolumeId=v)
