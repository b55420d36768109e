s = client("s3")
s.create_bucket(Bucket="one-bucket")
both = {"Prefix": "a/", "Tag": {"Key": "k", "Value": "v"}}
rule = {"ID": "a", "Status": "Enabled", "Filter": both, "Expiration": {"Days": 3}}
s.put_bucket_lifecycle_configuration(Bucket="one-bucket", LifecycleConfiguration={"Rules": [rule]})
