client("s3control").create_access_point(AccountId="123456789012", Name="point", Bucket="absent-bucket")
