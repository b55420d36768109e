s = client("s3")
s.create_bucket(Bucket="one-bucket")
s.put_object(
    Bucket="one-bucket", Key="k", Body=b"x", ServerSideEncryption="aws:kms", SSEKMSKeyId="fake-key-id"
)
