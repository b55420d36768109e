s = client("s3")
s.create_bucket(Bucket="one-bucket")
import json

everybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject"}
policy = {"Version": "2012-10-17", "Statement": [everybody | {"Resource": "arn:aws:s3:::one-bucket/*"}]}
s.put_bucket_policy(Bucket="one-bucket", Policy=json.dumps(policy))
