kms = client("kms")
kms.create_key(KeySpec="RSA_2048", KeyUsage="KEY_AGREEMENT")
