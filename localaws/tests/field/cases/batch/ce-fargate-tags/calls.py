b.create_compute_environment(
    computeEnvironmentName="f",
    type="MANAGED",
    computeResources={
        "type": "FARGATE",
        "maxvCpus": 8,
        "subnets": [subnet],
        "securityGroupIds": [group],
        "tags": {"a": "b"},
    },
)
