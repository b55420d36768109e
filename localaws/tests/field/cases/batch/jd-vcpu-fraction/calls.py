b = client("batch")
cp = {
    "image": "busybox",
    "command": ["true"],
    "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
}
cp["resourceRequirements"][0]["value"] = "1.0"
b.register_job_definition(jobDefinitionName="d", type="container", containerProperties=cp)
