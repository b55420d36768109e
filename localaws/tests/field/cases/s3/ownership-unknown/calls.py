client("s3").create_bucket(Bucket="field-bucket", ObjectOwnership="RandomValue")
