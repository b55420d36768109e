resources["securityGroupIds"] = ["sg-0123456789abcdef0"]
b.create_compute_environment(computeEnvironmentName="e", type="MANAGED", computeResources=resources)
