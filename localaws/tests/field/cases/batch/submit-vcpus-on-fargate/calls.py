b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=cr)
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "x"}]
)
b.register_job_definition(
    jobDefinitionName="d", type="container", platformCapabilities=["FARGATE"], containerProperties=cp
)
b.submit_job(jobName="j", jobQueue="q", jobDefinition="d", containerOverrides={"vcpus": 2})
