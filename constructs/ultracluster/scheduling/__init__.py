"""AWS Batch compute environments and job queues."""

__all__: list[str] = []
