kms = client("kms")
kms.create_key(KeySpec="HMAC_random")
