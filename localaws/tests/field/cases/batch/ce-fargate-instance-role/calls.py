b.create_compute_environment(
    computeEnvironmentName="x", type="MANAGED", computeResources=cr | {"instanceRole": "ecsInstanceRole"}
)
