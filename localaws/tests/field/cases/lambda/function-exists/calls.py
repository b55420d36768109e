base = {
    "FunctionName": "f",
    "Runtime": "python3.13",
    "Handler": "index.handler",
    "Role": role,
    "Code": {"ZipFile": data.getvalue()},
}
f = client("lambda")
for _ in range(2):
    f.create_function(**base)
