s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
s3.put_bucket_tagging(Bucket="field-bucket", Tagging={"TagSet": [{"Key": "aws:prefixed", "Value": "x"}]})
