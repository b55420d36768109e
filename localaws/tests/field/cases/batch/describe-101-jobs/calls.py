client("batch").describe_jobs(jobs=[f"{i:08d}-0000-0000-0000-000000000000" for i in range(101)])
