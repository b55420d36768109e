e.modify_instance_attribute(InstanceId=i, DisableApiTermination={"Value": True})
e.terminate_instances(InstanceIds=[i])
