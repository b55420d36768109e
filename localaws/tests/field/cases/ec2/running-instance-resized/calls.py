e.modify_instance_attribute(InstanceId=i, InstanceType={"Value": "c5.xlarge"})
