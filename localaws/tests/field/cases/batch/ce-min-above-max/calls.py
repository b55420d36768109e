resources["minvCpus"] = 16
b.create_compute_environment(computeEnvironmentName="e", type="MANAGED", computeResources=resources)
