client("batch").update_job_queue(jobQueue="none", priority=2)
