b.create_compute_environment(computeEnvironmentName="e", type="MANAGED", computeResources=resources)
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "e"}]
)
p = {"image": "busybox", "vcpus": 1, "memory": 64}
b.register_job_definition(
    jobDefinitionName="m",
    type="multinode",
    nodeProperties={
        "numNodes": 2,
        "mainNode": 0,
        "nodeRangeProperties": [{"targetNodes": "0:1", "container": p}],
    },
)
b.submit_job(jobName="j", jobQueue="q", jobDefinition="m", arrayProperties={"size": 2})
