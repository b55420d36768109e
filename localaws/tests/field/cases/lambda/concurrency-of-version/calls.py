f = client("lambda")
f.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role=role,
    Code={"ZipFile": data.getvalue()},
)
f.put_function_concurrency(FunctionName="f:1", ReservedConcurrentExecutions=0)
