client("batch").create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "none"}]
)
