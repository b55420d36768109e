kms = client("kms")
kms.create_key(Tags=[{"TagKey": f"k{i}", "TagValue": "v"} for i in range(51)])
