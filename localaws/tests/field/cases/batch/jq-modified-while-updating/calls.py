from datetime import timedelta

local.delays.batch = timedelta(minutes=1)
b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED")
local.clock.advance(timedelta(minutes=2))
b.create_job_queue(
    jobQueueName="q", priority=1, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "x"}]
)
b.update_job_queue(jobQueue="q", state="DISABLED")
