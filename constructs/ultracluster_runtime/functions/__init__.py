"""Lambda functions for job queues, and the time window of a Capacity Block."""

__all__: list[str] = []
