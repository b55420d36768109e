sqs = client("sqs")
sqs.create_queue(QueueName="q", Attributes={"DelaySeconds": "1"})
sqs.create_queue(QueueName="q", Attributes={"DelaySeconds": "2"})
