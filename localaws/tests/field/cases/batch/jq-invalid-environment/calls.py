b = client("batch")
b.create_compute_environment(
    computeEnvironmentName="x", type="UNMANAGED", serviceRole="arn:aws:iam::123456789012:role/none"
)
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "x"}]
)
