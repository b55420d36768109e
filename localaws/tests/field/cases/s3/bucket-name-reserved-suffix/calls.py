client("s3").create_bucket(Bucket="xn--a-s3alias")
