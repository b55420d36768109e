client("s3").create_bucket(Bucket="one-bucket", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
