sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
queue = client("sqs").create_queue(QueueName="q")["QueueUrl"]
arn = client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"][
    "QueueArn"
]
sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "wrongvalue"})
