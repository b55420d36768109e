for _ in range(2):
    client("ssm").put_parameter(Name="/a/b", Value="c", Type="String")
