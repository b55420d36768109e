client("batch").register_job_definition(
    jobDefinitionName="j",
    type="container",
    containerProperties={
        "image": "busybox",
        "vcpus": 1,
        "memory": 64,
        "volumes": [
            {
                "name": "v",
                "efsVolumeConfiguration": {
                    "fileSystemId": "fs-0123456789abcdef0",
                    "transitEncryption": "DISABLED",
                    "authorizationConfig": {"iam": "ENABLED"},
                },
            }
        ],
    },
)
