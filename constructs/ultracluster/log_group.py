"""The log groups of a cluster, which outlive it, and what lets somebody write to one."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.statement import Statement

__all__ = ["kept_log_group", "write_log"]


def kept_log_group(
    scope: Construct,
    *,
    retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
    kms_key: kms.IKey | None = None,
) -> logs.LogGroup:
    """Define the log group of a construct, as its child ``Logs``; it outlives the stack.

    Args:
        scope: The construct.
        retention: How long events are kept. Default: three months.
        kms_key: Key that encrypts it. Default: the keys of CloudWatch Logs.
    """
    return logs.LogGroup(
        scope, "Logs", retention=retention, removal_policy=RemovalPolicy.RETAIN, encryption_key=kms_key
    )


def write_log(log_group: logs.ILogGroup) -> Statement:
    """Give the statement that lets somebody write to a log group.

    Args:
        log_group: The log group.
    """
    return Statement(["logs:CreateLogStream", "logs:PutLogEvents"], [log_group.log_group_arn], sid="Log")
