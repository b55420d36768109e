s = client("secretsmanager")
s.create_secret(Name="one", SecretString="x")
s.get_secret_value(SecretId="one", VersionStage="AWSPREVIOUS")
