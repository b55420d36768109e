import json

logs = client("logs")
logs.create_log_group(logGroupName="/field")

statement = {
    "Effect": "Allow",
    "Principal": {"Service": "es.amazonaws.com"},
    "Action": "logs:PutLogEvents",
    "Resource": "*",
}
for i in range(11):
    logs.put_resource_policy(
        policyName=f"p{i}", policyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )
