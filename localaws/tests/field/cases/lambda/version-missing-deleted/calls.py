f.get_function(FunctionName="f", Qualifier="1221")
