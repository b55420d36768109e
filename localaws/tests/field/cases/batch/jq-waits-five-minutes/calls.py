b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", unmanagedvCpus=8)
order = [{"order": 1, "computeEnvironment": "x"}]
limit = {"reason": "waits", "state": "RUNNABLE", "maxTimeSeconds": 300, "action": "CANCEL"}
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=order, jobStateTimeLimitActions=[limit]
)
