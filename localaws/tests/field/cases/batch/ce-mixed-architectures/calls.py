r["instanceTypes"] = ["m5.large", "m6g.large"]
b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
