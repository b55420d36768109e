"""A template that every reader takes."""

GOOD = {"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}}}
