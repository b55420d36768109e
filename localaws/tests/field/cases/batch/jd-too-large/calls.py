b = client("batch")
cp = {
    "image": "busybox",
    "command": ["true"],
    "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
}
cp["command"] = ["x" * 25_000]
b.register_job_definition(jobDefinitionName="d", type="container", containerProperties=cp)
