kms = client("kms")
kms.create_key(Tags=[{"TagKey": "k", "TagValue": "1"}, {"TagKey": "k", "TagValue": "2"}])
