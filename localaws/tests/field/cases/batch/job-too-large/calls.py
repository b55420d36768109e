batch.submit_job(jobName="j", jobQueue="q", jobDefinition="d", parameters={"data": "x" * 48000})
