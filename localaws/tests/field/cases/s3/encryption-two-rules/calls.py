s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
rules = [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": one}} for one in ("aws:kms", "AES256")]
s3.put_bucket_encryption(Bucket="field-bucket", ServerSideEncryptionConfiguration={"Rules": rules})
