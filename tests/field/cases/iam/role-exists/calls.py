import json

trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
i = client("iam")
for _ in range(2):
    i.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))
