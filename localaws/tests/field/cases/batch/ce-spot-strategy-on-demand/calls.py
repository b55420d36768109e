r["allocationStrategy"] = "SPOT_CAPACITY_OPTIMIZED"
b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
