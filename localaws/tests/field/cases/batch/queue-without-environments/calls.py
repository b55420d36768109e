client("batch").create_job_queue(jobQueueName="q", priority=1, computeEnvironmentOrder=[])
