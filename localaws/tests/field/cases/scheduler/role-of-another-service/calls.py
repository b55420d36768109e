import json

trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
role = client("iam").create_role(RoleName="s", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
base = {
    "Name": "one",
    "ScheduleExpression": "rate(1 hour)",
    "FlexibleTimeWindow": {"Mode": "OFF"},
    "Target": {"Arn": "arn:aws:sqs:us-east-1:123456789012:q", "RoleArn": role},
}
s = client("scheduler")
s.create_schedule(**base)
