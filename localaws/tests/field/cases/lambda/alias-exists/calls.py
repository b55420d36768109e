f = client("lambda")
f.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role=role,
    Code={"ZipFile": data.getvalue()},
)
for _ in range(2):
    f.create_alias(FunctionName="f", Name="custom", FunctionVersion="$LATEST")
