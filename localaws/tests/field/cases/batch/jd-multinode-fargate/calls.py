b = client("batch")
cp = {
    "image": "busybox",
    "command": ["true"],
    "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
}
nodes = {"numNodes": 2, "mainNode": 0, "nodeRangeProperties": [{"targetNodes": "0:", "container": cp}]}
b.register_job_definition(
    jobDefinitionName="d", type="multinode", nodeProperties=nodes, platformCapabilities=["FARGATE"]
)
