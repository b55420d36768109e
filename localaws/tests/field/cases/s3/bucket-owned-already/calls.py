s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
where = {"LocationConstraint": "us-west-2"}
west = local.client("s3", "us-west-2")
west.create_bucket(Bucket="field-west", CreateBucketConfiguration=where)
west.create_bucket(Bucket="field-west", CreateBucketConfiguration=where)
