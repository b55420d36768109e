local.client("s3", "eu-west-1").create_bucket(
    Bucket="one-bucket", CreateBucketConfiguration={"LocationConstraint": "us-east-2"}
)
