import json

trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
i = client("iam")
i.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))
i.attach_role_policy(RoleName="nodes", PolicyArn="arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")
i.delete_role(RoleName="nodes")
