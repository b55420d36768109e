policy = batch.create_scheduling_policy(name="p", fairsharePolicy={"shareDecaySeconds": 3600})["arn"]
order = [{"order": 1, "computeEnvironment": "x"}]
batch.create_job_queue(
    jobQueueName="fair", priority=1, schedulingPolicyArn=policy, computeEnvironmentOrder=order
)
batch.submit_job(jobName="j", jobQueue="fair", jobDefinition="d")
