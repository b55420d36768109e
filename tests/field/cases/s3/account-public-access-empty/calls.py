client("s3control").put_public_access_block(AccountId="123456789012", PublicAccessBlockConfiguration={})
