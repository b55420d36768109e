client("batch").describe_compute_environments(computeEnvironments=["x"], maxResults=1)
