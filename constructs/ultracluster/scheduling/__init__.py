"""AWS Batch compute environments and job queues."""
