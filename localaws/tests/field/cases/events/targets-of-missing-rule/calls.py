client("events").put_targets(
    Rule="absent", Targets=[{"Id": "a", "Arn": "arn:aws:sqs:us-east-1:123456789012:q"}]
)
