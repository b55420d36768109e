f = client("lambda")
f.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role=role,
    Code={"ZipFile": data.getvalue()},
)
for _ in range(2):
    f.add_permission(
        FunctionName="f", StatementId="s3", Action="lambda:InvokeFunction", Principal="s3.amazonaws.com"
    )
