i.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))
i.attach_role_policy(RoleName="nodes", PolicyArn="arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")
i.delete_role(RoleName="nodes")
