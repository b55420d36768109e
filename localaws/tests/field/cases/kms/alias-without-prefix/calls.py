kms = client("kms")
key = kms.create_key()["KeyMetadata"]["KeyId"]
kms.create_alias(AliasName="key", TargetKeyId=key)
