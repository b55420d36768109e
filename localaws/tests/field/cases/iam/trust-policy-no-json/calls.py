client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="no JSON")
