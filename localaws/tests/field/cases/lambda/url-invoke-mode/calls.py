f = client("lambda")
f.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role=role,
    Code={"ZipFile": data.getvalue()},
)
f.create_function_url_config(FunctionName="f", AuthType="NONE", InvokeMode="UNKNOWN")
