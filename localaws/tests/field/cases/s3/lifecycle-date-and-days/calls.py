s = client("s3")
s.create_bucket(Bucket="one-bucket")
move = {"Days": 30, "Date": "2030-01-01T00:00:00Z", "StorageClass": "GLACIER"}
rule = {"ID": "a", "Status": "Enabled", "Filter": {"Prefix": "g/"}, "Transitions": [move]}
s.put_bucket_lifecycle_configuration(Bucket="one-bucket", LifecycleConfiguration={"Rules": [rule]})
