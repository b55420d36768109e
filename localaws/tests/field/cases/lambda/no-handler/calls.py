base = {"FunctionName": "f", "Role": role, "Code": {"ZipFile": data.getvalue()}}
whole = base | {"Runtime": "python3.13", "Handler": "index.handler"}
f = client("lambda")
f.create_function(**base)
