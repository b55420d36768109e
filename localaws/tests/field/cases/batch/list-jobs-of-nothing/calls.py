client("batch").list_jobs()
