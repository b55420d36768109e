"""boto3 sessions."""
