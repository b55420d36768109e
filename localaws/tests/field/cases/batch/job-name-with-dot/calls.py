batch.submit_job(jobName="prod-schedulers.update_indicators.main", jobQueue="q", jobDefinition="d")
