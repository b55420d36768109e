import json

policy = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"}],
    }
)
i = client("iam")
arn = i.create_policy(PolicyName="p", PolicyDocument=policy)["Policy"]["Arn"]
for _ in range(5):
    i.create_policy_version(PolicyArn=arn, PolicyDocument=policy)
