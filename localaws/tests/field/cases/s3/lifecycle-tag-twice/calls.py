s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
tags = [{"Key": "k", "Value": "1"}, {"Key": "k", "Value": "2"}]
rule = {"ID": "one", "Filter": {"And": {"Tags": tags}}, "Status": "Enabled", "Expiration": {"Days": 7}}
s3.put_bucket_lifecycle_configuration(Bucket="field-bucket", LifecycleConfiguration={"Rules": [rule]})
