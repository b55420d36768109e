sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
url = client("sqs").create_queue(QueueName="q.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
arn = client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
