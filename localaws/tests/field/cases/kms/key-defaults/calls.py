k = client("kms")
made = k.create_key()["KeyMetadata"]
assert (made.get("KeyUsage"), made.get("MultiRegion")) == ("ENCRYPT_DECRYPT", False)
shown = k.describe_key(KeyId=made["KeyId"])["KeyMetadata"]
assert (shown.get("KeyUsage"), shown.get("MultiRegion")) == ("ENCRYPT_DECRYPT", False)
signs = k.create_key(KeyUsage="SIGN_VERIFY", KeySpec="ECC_NIST_P256")["KeyMetadata"]
assert signs["KeyUsage"] == "SIGN_VERIFY"
