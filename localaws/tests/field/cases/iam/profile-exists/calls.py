for _ in range(2):
    client("iam").create_instance_profile(InstanceProfileName="nodes")
