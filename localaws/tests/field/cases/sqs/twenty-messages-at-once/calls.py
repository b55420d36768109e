s = client("sqs")
q = s.create_queue(QueueName="a")["QueueUrl"]
s.send_message_batch(QueueUrl=q, Entries=[{"Id": str(n), "MessageBody": "x"} for n in range(20)])
