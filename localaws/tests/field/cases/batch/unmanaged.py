batch = client("batch")
batch.create_compute_environment(
    computeEnvironmentName="x", type="UNMANAGED", state="ENABLED", unmanagedvCpus=256
)
batch.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "x"}]
)
batch.register_job_definition(
    jobDefinitionName="d",
    type="container",
    containerProperties={
        "image": "busybox",
        "command": ["true"],
        "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
    },
)
