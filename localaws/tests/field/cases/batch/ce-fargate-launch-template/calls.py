r = {
    "type": "FARGATE",
    "maxvCpus": 4,
    "subnets": [s],
    "securityGroupIds": [g],
    "launchTemplate": {"launchTemplateName": "l"},
}
b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
