"""AWS Batch queues for SageMaker training jobs."""

__all__: list[str] = []
