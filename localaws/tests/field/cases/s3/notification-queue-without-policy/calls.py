s = client("s3")
s.create_bucket(Bucket="one-bucket")
rule = {"QueueArn": "arn:aws:sqs:us-east-1:123456789012:absent", "Events": ["s3:ObjectCreated:*"]}
s.put_bucket_notification_configuration(
    Bucket="one-bucket", NotificationConfiguration={"QueueConfigurations": [rule]}
)
