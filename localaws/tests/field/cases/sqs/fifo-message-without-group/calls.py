s = client("sqs")
q = s.create_queue(QueueName="a.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
s.send_message(QueueUrl=q, MessageBody="x", MessageDeduplicationId="d")
