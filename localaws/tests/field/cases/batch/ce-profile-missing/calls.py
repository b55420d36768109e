resources["instanceRole"] = "none"
b.create_compute_environment(computeEnvironmentName="e", type="MANAGED", computeResources=resources)
