s = client("s3")
s.create_bucket(Bucket="one-bucket")
move = {"Days": 15, "StorageClass": "STANDARD_IA"}
rule = {"ID": "a", "Status": "Enabled", "Filter": {"Prefix": ""}, "Transitions": [move]}
s.put_bucket_lifecycle_configuration(Bucket="one-bucket", LifecycleConfiguration={"Rules": [rule]})
