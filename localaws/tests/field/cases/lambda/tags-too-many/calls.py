f = client("lambda")
f.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role=role,
    Code={"ZipFile": data.getvalue()},
)
arn = f.get_function(FunctionName="f")["Configuration"]["FunctionArn"]
f.tag_resource(Resource=arn, Tags={f"k{i}": "v" for i in range(51)})
