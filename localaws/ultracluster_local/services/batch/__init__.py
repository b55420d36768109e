"""AWS Batch."""

__all__: list[str] = []
