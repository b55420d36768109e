client("lambda").invoke(FunctionName="none")
