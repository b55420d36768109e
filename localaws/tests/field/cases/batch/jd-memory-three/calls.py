client("batch").register_job_definition(
    jobDefinitionName="j",
    type="container",
    containerProperties={
        "image": "busybox",
        "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "3"}],
    },
)
