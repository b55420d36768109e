s = client("sqs")
q = s.create_queue(QueueName="a")["QueueUrl"]
s.set_queue_attributes(QueueUrl=q, Attributes={"FifoQueue": "true"})
