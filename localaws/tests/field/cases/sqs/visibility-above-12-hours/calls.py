client("sqs").create_queue(QueueName="a", Attributes={"VisibilityTimeout": "43201"})
