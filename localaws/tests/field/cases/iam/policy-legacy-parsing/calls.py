import json

p = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Actions": "s3:GetObject", "Resource": "*"}]}
client("iam").create_policy(PolicyName="p", PolicyDocument=json.dumps(p))
