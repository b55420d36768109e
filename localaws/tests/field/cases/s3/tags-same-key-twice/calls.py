s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
tags = [{"Key": "Key1", "Value": "Val1"}, {"Key": "Key1", "Value": "Val1"}]
s3.put_bucket_tagging(Bucket="field-bucket", Tagging={"TagSet": tags})
