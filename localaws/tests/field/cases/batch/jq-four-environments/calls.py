b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", unmanagedvCpus=8)
order = [{"order": 1, "computeEnvironment": "x"}]
for name in "abc":
    b.create_compute_environment(computeEnvironmentName=name, type="UNMANAGED")
order += [{"order": 2 + number, "computeEnvironment": name} for number, name in enumerate("abc")]
b.create_job_queue(jobQueueName="q", priority=1, computeEnvironmentOrder=order)
