s = client("sqs")
q = s.create_queue(QueueName="a")["QueueUrl"]
s.send_message(QueueUrl=q, MessageBody="")
