b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", unmanagedvCpus=8)
order = [{"order": 1, "computeEnvironment": "x"}]
b.create_job_queue(jobQueueName="q", priority=1, computeEnvironmentOrder=order)
p = b.create_scheduling_policy(name="p", fairsharePolicy={"shareDecaySeconds": 600})["arn"]
b.update_job_queue(jobQueue="q", schedulingPolicyArn=p)
