s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
rule = {"ID": "wholebucket", "Status": "Enabled", "Expiration": {"Days": 7}}
s3.put_bucket_lifecycle_configuration(Bucket="field-bucket", LifecycleConfiguration={"Rules": [rule]})
