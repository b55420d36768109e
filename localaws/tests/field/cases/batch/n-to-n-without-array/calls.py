one = b.submit_job(jobName="a", jobQueue="q", jobDefinition="j")["jobId"]
b.submit_job(jobName="a", jobQueue="q", jobDefinition="j", dependsOn=[{"jobId": one, "type": "N_TO_N"}])
