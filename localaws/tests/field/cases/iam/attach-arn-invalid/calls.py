import json

iam = client("iam")
trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
iam.create_role(RoleName="r", AssumeRolePolicyDocument=json.dumps(trust))
iam.attach_role_policy(RoleName="r", PolicyArn="longpolicynamebutnoarn")
