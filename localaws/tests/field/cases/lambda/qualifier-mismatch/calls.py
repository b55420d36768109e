f.get_function(FunctionName=f"arn:aws:lambda:{REGION}:123456789012:function:f:1", Qualifier="$LATEST")
