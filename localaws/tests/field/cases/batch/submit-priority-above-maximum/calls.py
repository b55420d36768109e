b.submit_job(jobName="a", jobQueue="q", jobDefinition="j", schedulingPriorityOverride=10000)
