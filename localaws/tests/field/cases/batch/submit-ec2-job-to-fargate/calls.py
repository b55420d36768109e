b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=cr)
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "x"}]
)
b.register_job_definition(
    jobDefinitionName="d",
    type="container",
    platformCapabilities=["EC2"],
    containerProperties={k: v for k, v in cp.items() if k != "executionRoleArn"},
)
b.submit_job(jobName="j", jobQueue="q", jobDefinition="d")
