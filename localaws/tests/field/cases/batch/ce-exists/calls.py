for _ in range(2):
    client("batch").create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", unmanagedvCpus=8)
