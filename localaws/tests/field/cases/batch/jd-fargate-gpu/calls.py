client("batch").register_job_definition(
    jobDefinitionName="j",
    type="container",
    platformCapabilities=["FARGATE"],
    containerProperties={
        "image": "busybox",
        "executionRoleArn": "arn:aws:iam::123456789012:role/x",
        "resourceRequirements": [
            {"type": "VCPU", "value": "1"},
            {"type": "MEMORY", "value": "2048"},
            {"type": "GPU", "value": "1"},
        ],
    },
)
