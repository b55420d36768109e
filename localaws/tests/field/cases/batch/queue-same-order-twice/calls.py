b.create_compute_environment(computeEnvironmentName="e", type="MANAGED", computeResources=resources)
b.create_compute_environment(computeEnvironmentName="e2", type="MANAGED", computeResources=resources)
b.create_job_queue(
    jobQueueName="q",
    priority=1,
    computeEnvironmentOrder=[
        {"order": 1, "computeEnvironment": "e"},
        {"order": 1, "computeEnvironment": "e2"},
    ],
)
