f.create_function(**{**base, "FunctionName": "a" * 65})
