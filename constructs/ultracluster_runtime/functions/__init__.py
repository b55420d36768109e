"""Lambda functions for job queues, and the time window of a Capacity Block."""
