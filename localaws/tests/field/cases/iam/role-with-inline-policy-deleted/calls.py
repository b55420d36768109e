i.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))
policy = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"}],
}
i.put_role_policy(RoleName="nodes", PolicyName="p", PolicyDocument=json.dumps(policy))
i.delete_role(RoleName="nodes")
