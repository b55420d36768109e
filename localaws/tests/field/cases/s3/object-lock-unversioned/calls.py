s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
s3.put_object_lock_configuration(
    Bucket="field-bucket", ObjectLockConfiguration={"ObjectLockEnabled": "Enabled"}
)
