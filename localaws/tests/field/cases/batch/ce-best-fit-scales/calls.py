b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
b.update_compute_environment(computeEnvironment="x", computeResources={"maxvCpus": 512})
