"""Outputs of a cluster for tools that submit to it: queues, log group, roles and job definitions."""

from collections.abc import Iterator, Mapping

from aws_cdk import CfnOutput
from constructs import Construct

from ultracluster import TrainingQueue, UltraCluster
from ultracluster.jobs.cluster_job import ClusterJob

# A stack has at most 200 (CloudFormation User Guide, quotas, read 2026-11:
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html).
_MOST = 200


def define_outputs(
    scope: Construct,
    cluster: UltraCluster,
    *,
    queues: Mapping[str, TrainingQueue],
    jobs: Mapping[str, ClusterJob],
) -> None:
    """Define the outputs, those of jobs last, and not of more jobs than there is room for."""
    outputs: dict[str, str] = {}
    for name, value in _outputs(cluster, queues, jobs):
        # Names such as a-1 and a1 become the same word.
        outputs[f"{name}Again" if name in outputs else name] = value
    for name, value in list(outputs.items())[:_MOST]:
        CfnOutput(scope, name, value=value)


def _outputs(
    cluster: UltraCluster, queues: Mapping[str, TrainingQueue], jobs: Mapping[str, ClusterJob]
) -> Iterator[tuple[str, str]]:
    yield "JobQueueArn", cluster.queue.job_queue_arn
    yield "LogGroupName", cluster.queue.log_group_name
    yield "NodeRoleArn", cluster.nodes.role.role_arn
    for name, queue in queues.items():
        yield f"JobQueueArn{_word(name)}", queue.job_queue_arn
    for name, job in jobs.items():
        yield f"JobDefinitionArn{_word(name)}", job.job_definition_arn
        yield f"JobRoleArn{_word(name)}", job.role.role_arn
        yield f"ExecutionRoleArn{_word(name)}", job.execution_role.role_arn


def _word(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))
