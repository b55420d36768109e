"""AWS Batch queues for SageMaker training jobs."""
