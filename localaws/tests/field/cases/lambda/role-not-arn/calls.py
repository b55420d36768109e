f = client("lambda")
f.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role="r1",
    Code={"ZipFile": data.getvalue()},
)
