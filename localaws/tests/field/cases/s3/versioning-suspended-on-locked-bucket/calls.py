s3 = client("s3")
s3.create_bucket(Bucket="field-bucket", ObjectLockEnabledForBucket=True)
s3.put_bucket_versioning(Bucket="field-bucket", VersioningConfiguration={"Status": "Suspended"})
