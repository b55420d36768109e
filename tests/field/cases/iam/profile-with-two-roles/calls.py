import json

trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
i = client("iam")
i.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))
i.create_role(RoleName="more", AssumeRolePolicyDocument=json.dumps(trust))
i.create_instance_profile(InstanceProfileName="profile")
i.add_role_to_instance_profile(InstanceProfileName="profile", RoleName="nodes")
i.add_role_to_instance_profile(InstanceProfileName="profile", RoleName="more")
