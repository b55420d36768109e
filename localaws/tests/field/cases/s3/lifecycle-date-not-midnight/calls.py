s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
rule = {
    "ID": "one",
    "Filter": {"Prefix": ""},
    "Status": "Enabled",
    "Expiration": {"Date": "2030-01-01T12:00:00Z"},
}
s3.put_bucket_lifecycle_configuration(Bucket="field-bucket", LifecycleConfiguration={"Rules": [rule]})
