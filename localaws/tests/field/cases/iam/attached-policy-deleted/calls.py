i.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))
policy = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"}],
}
arn = i.create_policy(PolicyName="p", PolicyDocument=json.dumps(policy))["Policy"]["Arn"]
i.attach_role_policy(RoleName="nodes", PolicyArn=arn)
i.delete_policy(PolicyArn=arn)
