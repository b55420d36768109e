import json

p = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
client("iam").create_role(RoleName="r", AssumeRolePolicyDocument=json.dumps(p), MaxSessionDuration=46800)
