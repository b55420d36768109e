resources |= {"type": "SPOT", "allocationStrategy": "SPOT_CAPACITY_OPTIMIZED", "bidPercentage": 120}
b.create_compute_environment(computeEnvironmentName="e", type="MANAGED", computeResources=resources)
