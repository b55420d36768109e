base = {
    "FunctionName": "f",
    "Runtime": "python3.13",
    "Handler": "index.handler",
    "Role": role,
    "Code": {"ZipFile": data.getvalue()},
}
f = client("lambda")
f.create_function(**base)
