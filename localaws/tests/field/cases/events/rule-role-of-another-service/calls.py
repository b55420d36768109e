import json

trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
i = client("iam")
i.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))
arn = i.get_role(RoleName="nodes")["Role"]["Arn"]
client("events").put_rule(Name="r", ScheduleExpression="rate(5 minutes)", RoleArn=arn)
