s = client("secretsmanager")
s.create_secret(Name="one", SecretString="x")
s.create_secret(Name="one", SecretString="y")
