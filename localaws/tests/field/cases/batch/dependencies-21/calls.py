jobs = [batch.submit_job(jobName="j", jobQueue="q", jobDefinition="d")["jobId"] for _ in range(21)]
batch.submit_job(jobName="j", jobQueue="q", jobDefinition="d", dependsOn=[{"jobId": one} for one in jobs])
