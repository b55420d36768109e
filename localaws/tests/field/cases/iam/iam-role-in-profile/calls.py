i = client("iam")
i.create_role(
    RoleName="r",
    AssumeRolePolicyDocument='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}',
)
i.create_instance_profile(InstanceProfileName="p")
i.add_role_to_instance_profile(InstanceProfileName="p", RoleName="r")
i.delete_role(RoleName="r")
