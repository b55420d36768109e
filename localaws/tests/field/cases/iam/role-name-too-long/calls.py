i.create_role(RoleName="n" * 65, AssumeRolePolicyDocument=json.dumps(trust))
