b.update_job_queue(jobQueue="q", state="DISABLED")
b.submit_job(jobName="a", jobQueue="q", jobDefinition="j")
