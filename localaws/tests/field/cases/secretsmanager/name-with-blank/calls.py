client("secretsmanager").create_secret(Name="Inv Name", SecretString="x")
