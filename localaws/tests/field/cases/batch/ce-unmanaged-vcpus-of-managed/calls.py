b.create_compute_environment(computeEnvironmentName="e", type="MANAGED", computeResources=resources)
b.update_compute_environment(computeEnvironment="e", unmanagedvCpus=4)
