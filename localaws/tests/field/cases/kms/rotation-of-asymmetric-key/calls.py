k = client("kms")
key = k.create_key(KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["KeyId"]
k.enable_key_rotation(KeyId=key)
