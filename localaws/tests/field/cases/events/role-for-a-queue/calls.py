q = client("sqs").create_queue(QueueName="q")["QueueUrl"]
arn = client("sqs").get_queue_attributes(QueueUrl=q, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
v = client("events")
v.put_rule(Name="r", ScheduleExpression="rate(5 minutes)")
v.put_targets(Rule="r", Targets=[{"Id": "q", "Arn": arn, "RoleArn": "arn:aws:iam::123456789012:role/x"}])
