for _ in range(2):
    i.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))
