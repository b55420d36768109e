b.submit_job(jobName="a", jobQueue="q", jobDefinition="j", arrayProperties={"size": 10001})
