f = client("lambda")
f.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role=role,
    Code={"ZipFile": data.getvalue()},
)
f.create_event_source_mapping(FunctionName="f", EventSourceArn=f"arn:aws:sqs:{REGION}:123456789012:nope")
