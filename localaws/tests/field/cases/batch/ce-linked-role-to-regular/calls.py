b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
b.update_compute_environment(computeEnvironment="x", serviceRole="arn:aws:iam::123456789012:role/own")
