client("ec2").terminate_instances(InstanceIds=["i-0123456789abcdef0"])
