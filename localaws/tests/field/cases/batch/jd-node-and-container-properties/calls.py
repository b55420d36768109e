p = {"image": "busybox", "vcpus": 1, "memory": 64}
client("batch").register_job_definition(
    jobDefinitionName="j",
    type="multinode",
    containerProperties=p,
    nodeProperties={
        "numNodes": 2,
        "mainNode": 0,
        "nodeRangeProperties": [{"targetNodes": "0:1", "container": p}],
    },
)
