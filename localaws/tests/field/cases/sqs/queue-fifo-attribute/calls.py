client("sqs").create_queue(QueueName="q", Attributes={"ContentBasedDeduplication": "true"})
