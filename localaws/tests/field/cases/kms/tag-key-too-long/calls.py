kms = client("kms")
kms.create_key(Tags=[{"TagKey": "a" * 129, "TagValue": "v"}])
