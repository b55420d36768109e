del r["minvCpus"]
b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
