client("batch").update_compute_environment(computeEnvironment="absent", state="DISABLED")
