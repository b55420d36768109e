f = client("lambda")
f.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role=role,
    Code={"ZipFile": data.getvalue()},
)
f.add_permission(
    FunctionName="f", StatementId="one", Action="lambda:InvokeFunction", Principal="invalid.nonaws.com"
)
