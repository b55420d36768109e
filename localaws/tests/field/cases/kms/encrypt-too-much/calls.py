kms = client("kms")
key = kms.create_key()["KeyMetadata"]["KeyId"]
kms.encrypt(KeyId=key, Plaintext=b"x" * 4097)
