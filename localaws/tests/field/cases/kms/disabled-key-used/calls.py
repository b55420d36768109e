k = client("kms")
key = k.create_key()["KeyMetadata"]["KeyId"]
k.disable_key(KeyId=key)
k.encrypt(KeyId=key, Plaintext=b"x")
