b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED")
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "x"}]
)
b.update_compute_environment(computeEnvironment="x", state="DISABLED")
b.delete_compute_environment(computeEnvironment="x")
