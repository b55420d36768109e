b.submit_job(jobName="a", jobQueue="q", jobDefinition="j", timeout={"attemptDurationSeconds": 30})
