b.submit_job(jobName="a", jobQueue="q", jobDefinition="j", containerOverrides={"command": ["echo", ""]})
