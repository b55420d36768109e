s = client("secretsmanager")
s.create_secret(Name="one", SecretString="x")
s.rotate_secret(SecretId="one", RotationRules={"AutomaticallyAfterDays": 1})
