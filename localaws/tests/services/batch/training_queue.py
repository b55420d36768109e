"""A queue with a compute environment and a job definition, to submit jobs to."""

from typing import Any

from ultracluster_local import LocalAws

SIZE = {
    "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
    "image": "x",
}
LISTS: dict[str, Any] = {
    name: []
    for name in (
        *("command", "environment", "mountPoints"),
        *("resourceRequirements", "secrets", "ulimits", "volumes"),
    )
}
"""Lists that AWS Batch shows of each container."""
NODES: dict[str, Any] = {
    "numNodes": 4,
    "mainNode": 0,
    "nodeRangeProperties": [{"targetNodes": "0:3", "container": {**SIZE, "instanceType": "trn2.48xlarge"}}],
}


def shown(nodes: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of nodes as AWS Batch shows them."""
    ranges = [{**one, "container": LISTS | one["container"]} for one in nodes["nodeRangeProperties"]]
    return {**nodes, "nodeRangeProperties": ranges}


def training_queue(local: LocalAws) -> Any:
    """Create the queue and return a client of AWS Batch."""
    client = local.client("batch")
    client.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED")
    order = [{"order": 1, "computeEnvironment": "nodes"}]
    client.create_job_queue(jobQueueName="training", priority=1, computeEnvironmentOrder=order)
    client.register_job_definition(jobDefinitionName="job", type="multinode", nodeProperties=NODES)
    return client
