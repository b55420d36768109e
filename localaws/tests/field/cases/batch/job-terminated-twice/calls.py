one = b.submit_job(jobName="a", jobQueue="q", jobDefinition="j")["jobId"]
for _ in range(2):
    b.terminate_job(jobId=one, reason="enough")
