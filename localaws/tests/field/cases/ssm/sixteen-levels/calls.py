client("ssm").put_parameter(Name="/a" * 16, Value="x", Type="String")
