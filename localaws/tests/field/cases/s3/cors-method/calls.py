s3 = client("s3")
s3.create_bucket(Bucket="field-bucket")
rules = [{"AllowedOrigins": ["*"], "AllowedMethods": ["MYMETHOD"]}]
s3.put_bucket_cors(Bucket="field-bucket", CORSConfiguration={"CORSRules": rules})
