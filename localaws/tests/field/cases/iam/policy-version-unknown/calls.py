import json

p = {"Version": "2020-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}
client("iam").create_policy(PolicyName="p", PolicyDocument=json.dumps(p))
