requirements = [{"type": "VCPU", "value": "1.0"}, {"type": "MEMORY", "value": "512"}]
properties = {"image": "busybox", "command": ["true"], "resourceRequirements": requirements}
client("batch").register_job_definition(
    jobDefinitionName="d", type="container", containerProperties=properties
)
