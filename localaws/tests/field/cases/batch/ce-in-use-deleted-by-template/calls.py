b.update_compute_environment(computeEnvironment="e", state="DISABLED")
b.delete_compute_environment(computeEnvironment="e")
