b.create_compute_environment(
    computeEnvironmentName="x",
    type="MANAGED",
    computeResources={**r, "desiredvCpus": 8, "allocationStrategy": "BEST_FIT_PROGRESSIVE"},
)
b.update_compute_environment(computeEnvironment="x", computeResources={"desiredvCpus": 4})
