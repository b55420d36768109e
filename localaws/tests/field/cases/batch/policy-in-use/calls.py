b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", unmanagedvCpus=8)
order = [{"order": 1, "computeEnvironment": "x"}]
p = b.create_scheduling_policy(name="p", fairsharePolicy={"shareDecaySeconds": 600})["arn"]
b.create_job_queue(jobQueueName="q", priority=1, computeEnvironmentOrder=order, schedulingPolicyArn=p)
b.delete_scheduling_policy(arn=p)
