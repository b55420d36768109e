"""Lambda functions that act on queues."""

__all__: list[str] = []
