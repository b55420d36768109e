f = client("lambda")
f.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role=role,
    Code={"ZipFile": data.getvalue()},
)
arn = f.get_function(FunctionName="f")["Configuration"]["FunctionArn"]
f.put_function_event_invoke_config(FunctionName="f", DestinationConfig={"OnFailure": {"Destination": arn}})
