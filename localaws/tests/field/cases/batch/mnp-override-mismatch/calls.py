b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", state="ENABLED")
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "x"}]
)
cp = {
    "image": "busybox",
    "command": ["true"],
    "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
}
b.register_job_definition(
    jobDefinitionName="m",
    type="multinode",
    nodeProperties={
        "mainNode": 0,
        "numNodes": 2,
        "nodeRangeProperties": [{"targetNodes": "0:", "container": cp}],
    },
)
b.submit_job(
    jobName="j",
    jobQueue="q",
    jobDefinition="m",
    nodeOverrides={
        "nodePropertyOverrides": [{"targetNodes": "0:0", "containerOverrides": {"command": ["x"]}}]
    },
)
