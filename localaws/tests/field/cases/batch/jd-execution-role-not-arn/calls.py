b = client("batch")
cp = {
    "image": "busybox",
    "command": ["true"],
    "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
}
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", unmanagedvCpus=8)
order = [{"order": 1, "computeEnvironment": "x"}]
b.create_job_queue(jobQueueName="q", priority=1, computeEnvironmentOrder=order)
b.register_job_definition(
    jobDefinitionName="d", type="container", containerProperties=cp | {"executionRoleArn": "XYZ"}
)
