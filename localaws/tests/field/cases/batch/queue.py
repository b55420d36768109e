b.create_compute_environment(computeEnvironmentName="e", type="MANAGED", computeResources=resources)
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "e"}]
)
b.register_job_definition(
    jobDefinitionName="j",
    type="container",
    containerProperties={"image": "busybox", "vcpus": 1, "memory": 64},
)
