r["type"] = "SPOT"
b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
