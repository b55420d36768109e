i = client("iam")
read = {"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}
policy = json.dumps({"Version": "2012-10-17", "Statement": [read]})
i.put_role_policy(RoleName="f", PolicyName="p", PolicyDocument=policy)
client("sqs").create_queue(QueueName="q")
for _ in range(2):
    f.create_event_source_mapping(FunctionName="f", EventSourceArn=f"arn:aws:sqs:{REGION}:123456789012:q")
