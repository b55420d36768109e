s = client("s3")
s.create_bucket(Bucket="one-bucket")
s.put_bucket_acl(
    Bucket="one-bucket", ACL="private", GrantRead="uri=http://acs.amazonaws.com/groups/s3/LogDelivery"
)
