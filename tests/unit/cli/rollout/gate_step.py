"""A step that waits for a job."""

from ultracluster_runtime.rollout.decide import Task

GATE = Task(cluster="a-us-east-2", step="job:train-fabric", interrupted=False, attempt=1)
