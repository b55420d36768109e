"""Log groups that outlive their stack, and the permission to write to one."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster._foundation.permissions import allow


class RetainedLogGroup(logs.LogGroup):
    """The log group of a construct, as its child ``Logs``, retained when the stack is deleted."""

    def __init__(
        self,
        scope: Construct,
        *,
        retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the log group, by default of 3 months and encrypted by CloudWatch Logs."""
        super().__init__(
            scope, "Logs", retention=retention, removal_policy=RemovalPolicy.RETAIN, encryption_key=kms_key
        )


def write_statement(log_group: logs.ILogGroup) -> iam.PolicyStatement:
    """Return the statement that allows a role to write to a log group."""
    return allow("Log", ["logs:CreateLogStream", "logs:PutLogEvents"], [log_group.log_group_arn])
