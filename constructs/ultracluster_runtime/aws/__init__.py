"""boto3 sessions."""

__all__: list[str] = []
