k = client("kms")
key = k.create_key()["KeyMetadata"]["KeyId"]
k.schedule_key_deletion(KeyId=key, PendingWindowInDays=3)
