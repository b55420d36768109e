s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
s3.create_bucket(Bucket="field-west", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
s3.put_bucket_logging(
    Bucket="field-bucket",
    BucketLoggingStatus={"LoggingEnabled": {"TargetBucket": "field-west", "TargetPrefix": "log"}},
)
