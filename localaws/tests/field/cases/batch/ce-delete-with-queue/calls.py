batch.update_compute_environment(computeEnvironment="x", state="DISABLED")
batch.delete_compute_environment(computeEnvironment="x")
