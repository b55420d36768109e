b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", state="ENABLED")
b.delete_compute_environment(computeEnvironment="x")
