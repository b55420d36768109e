s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
queue = client("sqs").create_queue(QueueName="q")["QueueUrl"]
arn = client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"][
    "QueueArn"
]
rules = {"Key": {"FilterRules": [{"Name": "INVALID", "Value": "any"}]}}
configuration = {
    "QueueConfigurations": [{"QueueArn": arn, "Events": ["s3:ObjectCreated:*"], "Filter": rules}]
}
s3.put_bucket_notification_configuration(Bucket="field-bucket", NotificationConfiguration=configuration)
