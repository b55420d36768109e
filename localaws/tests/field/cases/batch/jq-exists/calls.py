b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", unmanagedvCpus=8)
order = [{"order": 1, "computeEnvironment": "x"}]
for _ in range(2):
    b.create_job_queue(jobQueueName="q", priority=1, computeEnvironmentOrder=order)
