import json

trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "s3:GetObject"}
    ],
}
i = client("iam")
i.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))
