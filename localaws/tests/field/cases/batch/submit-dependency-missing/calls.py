b.submit_job(jobName="a", jobQueue="q", jobDefinition="j", dependsOn=[{"jobId": "no-such-job"}])
