import json

sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
url = client("sqs").create_queue(QueueName="q")["QueueUrl"]
arn = client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
one = sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)["SubscriptionArn"]
sns.set_subscription_attributes(
    SubscriptionArn=one,
    AttributeName="RedrivePolicy",
    AttributeValue=json.dumps({"deadLetterTargetArn": "fake-arn"}),
)
