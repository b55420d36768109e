s = client("sqs")
q = s.create_queue(QueueName="a")["QueueUrl"]
s.send_message(QueueUrl=q, MessageBody="x" * 1_048_577)
