f.get_function(FunctionName="arn:aws:lambda:ap-southeast-1:123456789012:function:f")
