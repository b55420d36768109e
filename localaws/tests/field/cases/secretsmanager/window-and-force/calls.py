s = client("secretsmanager")
s.create_secret(Name="one", SecretString="x")
s.delete_secret(SecretId="one", RecoveryWindowInDays=7, ForceDeleteWithoutRecovery=True)
