client("batch").register_job_definition(
    jobDefinitionName="j",
    type="container",
    containerProperties={"image": "busybox", "vcpus": 1, "memory": 64},
    eksProperties={
        "podProperties": {
            "containers": [{"image": "busybox", "resources": {"limits": {"cpu": "1", "memory": "64Mi"}}}]
        }
    },
)
