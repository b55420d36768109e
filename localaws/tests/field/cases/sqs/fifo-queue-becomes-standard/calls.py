s = client("sqs")
q = s.create_queue(QueueName="a.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
s.set_queue_attributes(QueueUrl=q, Attributes={"FifoQueue": "false"})
