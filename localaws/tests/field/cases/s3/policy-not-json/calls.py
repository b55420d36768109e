s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
s3.put_bucket_policy(Bucket="field-bucket", Policy="no JSON")
