client("lambda").create_event_source_mapping(
    EventSourceArn="arn:aws:sqs:us-east-1:123456789012:q", FunctionName="f", BatchSize=20000
)
