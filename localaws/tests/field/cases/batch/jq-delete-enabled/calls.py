b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", unmanagedvCpus=8)
order = [{"order": 1, "computeEnvironment": "x"}]
b.create_job_queue(jobQueueName="q", priority=1, computeEnvironmentOrder=order)
b.delete_job_queue(jobQueue="q")
