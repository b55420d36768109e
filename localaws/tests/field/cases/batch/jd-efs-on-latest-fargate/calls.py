volume = {"name": "v", "efsVolumeConfiguration": {"fileSystemId": "fs-0123456789abcdef0"}}
more = cp | {"volumes": [volume], "fargatePlatformConfiguration": {"platformVersion": "LATEST"}}
b.register_job_definition(
    jobDefinitionName="d", type="container", platformCapabilities=["FARGATE"], containerProperties=more
)
