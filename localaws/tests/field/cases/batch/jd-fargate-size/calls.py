b = client("batch")
cp = {
    "image": "busybox",
    "command": ["true"],
    "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
}
cp["executionRoleArn"] = "arn:aws:iam::123456789012:role/r"
b.register_job_definition(
    jobDefinitionName="d", type="container", containerProperties=cp, platformCapabilities=["FARGATE"]
)
