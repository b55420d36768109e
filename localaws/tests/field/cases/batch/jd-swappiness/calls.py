client("batch").register_job_definition(
    jobDefinitionName="j",
    type="container",
    containerProperties={
        "image": "busybox",
        "vcpus": 1,
        "memory": 64,
        "linuxParameters": {"maxSwap": 64, "swappiness": 101},
    },
)
