kms = client("kms")
kms.describe_key(KeyId="fake-key-id")
