s = client("ssm")
s.put_parameter(Name="/a/b", Value="x", Type="String")
s.put_parameter(Name="/a/b", Value="y", Type="String", Overwrite=True, Tags=[{"Key": "k", "Value": "v"}])
