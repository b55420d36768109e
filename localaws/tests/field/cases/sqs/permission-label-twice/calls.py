s = client("sqs")
q = s.create_queue(QueueName="a")["QueueUrl"]
for _ in range(2):
    s.add_permission(QueueUrl=q, Label="one", AWSAccountIds=["123456789012"], Actions=["SendMessage"])
