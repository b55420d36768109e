kms = client("kms")
key = kms.create_key()["KeyMetadata"]["KeyId"]
kms.tag_resource(KeyId=key, Tags=[{"TagKey": "aws:key1", "TagValue": "v"}])
