b = client("batch")
b.create_compute_environment(computeEnvironmentName="e", type="UNMANAGED", unmanagedvCpus=8)
q = b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "e"}]
)["jobQueueArn"]
b.submit_job(jobName="j", jobQueue=q, jobDefinition=q)
