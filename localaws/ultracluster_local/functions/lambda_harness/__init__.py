"""What runs inside the process of a local Lambda function; each file stands alone."""

__all__: list[str] = []
