f.update_alias(FunctionName="f", Name="nope", Description="d")
