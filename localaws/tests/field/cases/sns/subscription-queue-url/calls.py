sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
url = client("sqs").create_queue(QueueName="q")["QueueUrl"]
sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=url)
