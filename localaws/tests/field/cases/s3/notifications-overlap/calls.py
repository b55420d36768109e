s = client("s3")
s.create_bucket(Bucket="one-bucket")
import json

q = client("sqs")
url = q.create_queue(QueueName="told")["QueueUrl"]
arn = "arn:aws:sqs:us-east-1:123456789012:told"
who = {"Service": "s3.amazonaws.com"}
may = {"Effect": "Allow", "Principal": who, "Action": "sqs:SendMessage", "Resource": arn}
q.set_queue_attributes(
    QueueUrl=url, Attributes={"Policy": json.dumps({"Version": "2012-10-17", "Statement": [may]})}
)
rules = [
    {
        "Id": name,
        "QueueArn": arn,
        "Events": ["s3:ObjectCreated:*"],
        "Filter": {"Key": {"FilterRules": [{"Name": "prefix", "Value": prefix}]}},
    }
    for name, prefix in (("a", "runs/"), ("b", "runs/one/"))
]
s.put_bucket_notification_configuration(
    Bucket="one-bucket", NotificationConfiguration={"QueueConfigurations": rules}
)
