"""A KMS key of one's own for everything that a cluster keeps, with what the services around it need."""

from aws_cdk import Aws, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

__all__ = ["ClusterKey"]

_USE = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
_PUBLISH = ["kms:Decrypt", "kms:GenerateDataKey*"]
# Of the service-linked role that FSx makes for each file system that is joined with a bucket.
_FSX_ROLE = "aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_*"


class ClusterKey(Construct):
    """A key that rotates every year, is kept when its stack goes, and may be used by what works on a cluster's behalf.

    These are CloudWatch Logs for the log groups of the account, EC2 for volumes, which AWS Batch launches nodes with by roles that have no
    right to any key, FSx for the buckets that it is joined with, and CloudWatch, EventBridge and AWS Budgets for topics. Whom the
    account's own IAM policies name may use it too; our roles are named there where they need it.

    Example::

        key = ClusterKey(stack, "Key").key
        UltraCluster(stack, "Cluster", kms_key=key, ...)
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    ) -> None:
        """Define the key.

        Args:
            scope: Parent construct.
            construct_id: Construct ID.
            removal_policy: What happens to it when it leaves the stack. What is encrypted with a key that is gone is lost.
                Default: it is kept.
        """
        super().__init__(scope, construct_id)
        self._key = kms.Key(
            self,
            "Resource",
            description="What a training cluster keeps",
            enable_key_rotation=True,
            removal_policy=removal_policy,
        )
        region = Stack.of(self).region
        own = {"aws:SourceAccount": Aws.ACCOUNT_ID}
        caller = {"kms:CallerAccount": Aws.ACCOUNT_ID}
        everybody = iam.AnyPrincipal()  # of the account, by the conditions
        for statement in (
            # CloudWatch Logs User Guide, "Encrypt log data in CloudWatch Logs", read 2026-11-22.
            _allow(
                "Logs",
                iam.ServicePrincipal(f"logs.{region}.amazonaws.com"),
                _USE,
                {
                    "ArnLike": {
                        "kms:EncryptionContext:aws:logs:arn": f"arn:{Aws.PARTITION}:logs:{region}:{Aws.ACCOUNT_ID}:log-group:*"
                    }
                },
            ),
            # Taken as what suffices (docs/live-checks.md, L104): whoever may launch instances or attach volumes. The
            # service-linked roles that launch for AWS Batch cannot be named, since a key that names one which is not there yet is refused.
            _allow(
                "Volumes",
                everybody,
                _USE,
                {"StringEquals": caller | {"kms:ViaService": f"ec2.{region}.amazonaws.com"}},
            ),
            _allow(
                "GrantForVolumes",
                everybody,
                ["kms:CreateGrant"],
                {
                    "StringEquals": caller | {"kms:ViaService": f"ec2.{region}.amazonaws.com"},
                    "Bool": {"kms:GrantIsForAWSResource": "true"},
                },
            ),
            _allow(
                "JoinedBuckets",
                everybody,
                _USE,
                {
                    "StringEquals": caller | {"kms:ViaService": f"s3.{region}.amazonaws.com"},
                    "ArnLike": {
                        "aws:PrincipalArn": f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/{_FSX_ROLE}"
                    },
                },
            ),
            _allow(
                "Alarms", iam.ServicePrincipal("cloudwatch.amazonaws.com"), _PUBLISH, {"StringEquals": own}
            ),
            _allow("Budgets", iam.ServicePrincipal("budgets.amazonaws.com"), _PUBLISH, {"StringEquals": own}),
            # Taken as in capacity_guard.py: what EventBridge sends to a topic does not say for whom it publishes.
            _allow("Events", iam.ServicePrincipal("events.amazonaws.com"), _PUBLISH, None),
        ):
            self._key.add_to_resource_policy(statement)

    @property
    def key(self) -> kms.IKey:
        """The key."""
        return self._key


def _allow(
    sid: str, principal: iam.IPrincipal, actions: list[str], conditions: dict[str, dict[str, str]] | None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid, principals=[principal], actions=actions, resources=["*"], conditions=conditions
    )
