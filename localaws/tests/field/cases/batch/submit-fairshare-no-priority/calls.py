b = client("batch")
b.create_compute_environment(
    computeEnvironmentName="x", type="UNMANAGED", state="ENABLED", unmanagedvCpus=256
)
p = b.create_scheduling_policy(name="p", fairsharePolicy={"shareDecaySeconds": 3600})["arn"]
b.create_job_queue(
    jobQueueName="fs",
    priority=1,
    schedulingPolicyArn=p,
    computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "x"}],
)
b.create_job_queue(
    jobQueueName="fifo", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "x"}]
)
cp = {
    "image": "busybox",
    "command": ["true"],
    "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
}
b.register_job_definition(jobDefinitionName="d", type="container", containerProperties=cp)
b.register_job_definition(
    jobDefinitionName="dp", type="container", containerProperties=cp, schedulingPriority=1
)
b.submit_job(jobName="j", jobQueue="fs", jobDefinition="d", shareIdentifier="default")
