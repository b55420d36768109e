i.create_role(RoleName="r", AssumeRolePolicyDocument=json.dumps(trust))
i.create_instance_profile(InstanceProfileName="p")
i.add_role_to_instance_profile(InstanceProfileName="p", RoleName="r")
i.delete_instance_profile(InstanceProfileName="p")
