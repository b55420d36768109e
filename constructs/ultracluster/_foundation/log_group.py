"""The log groups of a cluster, which outlive it, and what lets somebody write to one."""

from typing import Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster._foundation.l2_on_request import l2_in_place_of
from ultracluster._foundation.statement import Statement

__all__ = ["KeptLogGroup", "l2_log_group", "write_log"]

_ID = "Logs"

# The numbers behind the CDK's names, which are in Node; a test compares them.
_DAYS: Final = {
    "ONE_DAY": 1,
    "THREE_DAYS": 3,
    "FIVE_DAYS": 5,
    "ONE_WEEK": 7,
    "TWO_WEEKS": 14,
    "ONE_MONTH": 30,
    "TWO_MONTHS": 60,
    "THREE_MONTHS": 90,
    "FOUR_MONTHS": 120,
    "FIVE_MONTHS": 150,
    "SIX_MONTHS": 180,
    "ONE_YEAR": 365,
    "THIRTEEN_MONTHS": 400,
    "EIGHTEEN_MONTHS": 545,
    "TWO_YEARS": 731,
    "THREE_YEARS": 1096,
    "FIVE_YEARS": 1827,
    "SIX_YEARS": 2192,
    "SEVEN_YEARS": 2557,
    "EIGHT_YEARS": 2922,
    "NINE_YEARS": 3288,
    "TEN_YEARS": 3653,
    "INFINITE": None,
}


class KeptLogGroup:
    """The log group of a construct, as its child ``Logs``, which outlives the stack: L1 until somebody asks for the L2 one."""

    _l2: logs.LogGroup | None = None

    def __init__(
        self,
        scope: Construct,
        *,
        retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the log group.

        Args:
            scope: The construct.
            retention: How long events are kept. Default: three months.
            kms_key: Key that encrypts it. Default: the keys of CloudWatch Logs.
        """
        self._scope = scope
        self._retention = retention
        self._kms_key = kms_key
        self._resource = logs.CfnLogGroup(
            Construct(scope, _ID),
            "Resource",
            retention_in_days=_DAYS[retention.name],
            kms_key_id=kms_key.key_arn if kms_key else None,
        )
        self._resource.apply_removal_policy(RemovalPolicy.RETAIN)
        self._log_group_arn = self._resource.attr_arn
        self._log_group_name = self._resource.ref

    @property
    def log_group(self) -> logs.LogGroup:
        """The log group, for what only an L2 construct can do."""
        if self._l2 is None:
            self._l2 = l2_in_place_of(
                self._resource, scope=self._scope, construct_id=_ID, make=self._define_l2
            )
        return self._l2

    def _define_l2(self) -> logs.LogGroup:
        return logs.LogGroup(
            self._scope,
            _ID,
            retention=self._retention,
            removal_policy=RemovalPolicy.RETAIN,
            encryption_key=self._kms_key,
        )

    @property
    def log_group_arn(self) -> str:
        """ARN of the log group."""
        return self._log_group_arn

    @property
    def log_group_name(self) -> str:
        """Name of the log group."""
        return self._log_group_name


def l2_log_group(log_group: logs.ILogGroup | KeptLogGroup) -> logs.ILogGroup:
    """Give a log group, ours or another, as an L2 construct.

    Args:
        log_group: The log group.
    """
    return log_group.log_group if isinstance(log_group, KeptLogGroup) else log_group


def write_log(log_group_arn: str) -> Statement:
    """Give the statement that lets somebody write to a log group.

    Args:
        log_group_arn: ARN of the log group.
    """
    return Statement(["logs:CreateLogStream", "logs:PutLogEvents"], [log_group_arn], sid="Log")
