"""The ledger that makes each capacity purchase happen at most once: a protected DynamoDB table."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster._foundation.permissions import grant
from ultracluster_spec.arguments import validate_arguments

# Table layout, defined by ultracluster_runtime.purchasing.ledger; a test compares the two.
_PARTITION_KEY = "pk"
_SORT_KEY = "sk"
_LOCKS = "LOCK#*"

_READ = ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"]
_WRITE = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
_RELEASE = ["dynamodb:DeleteItem"]


class CapacityLedger(Construct):
    """A table with every capacity order: one per account, in one home Region.

    PurchaseCapacityBlock has no client token, so only this table knows whether a request may have been sent. It is not a
    global table: eventually consistent replicas resolve conflicts by the last writer, and buyers in two Regions could both
    succeed. The table has deletion protection and point-in-time recovery over 35 days, and is retained when it is removed
    from its stack. A restored or recreated ledger lacks purchases, so the buyer also looks for the tag ``uc:po`` in EC2.
    """

    @validate_arguments
    def __init__(self, scope: Construct, construct_id: str, *, kms_key: kms.IKey | None = None) -> None:
        """Define the table.

        Args:
            kms_key: KMS key of the table. If the key is lost, so is the ledger. Default: an AWS owned key, free of
                charge.
        """
        super().__init__(scope, construct_id)
        self._kms_key = kms_key
        self._table = self._define_table()
        self.node.default_child = self._table.node.default_child

    @classmethod
    @validate_arguments
    def from_table_name(
        cls, scope: Construct, construct_id: str, table_name: str, *, kms_key: kms.IKey | None = None
    ) -> "CapacityLedger":
        """Import an existing ledger by the name of its table in the Region of the stack.

        Args:
            table_name: Name of the table.
            kms_key: KMS key of the table. Default: an AWS owned key.
        """
        return _ExistingLedger(scope, construct_id, table_name=table_name, kms_key=kms_key)

    def _define_table(self) -> dynamodb.ITable:
        customer_managed = self._kms_key is not None
        return dynamodb.Table(
            self,
            "Resource",
            partition_key=dynamodb.Attribute(name=_PARTITION_KEY, type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name=_SORT_KEY, type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            deletion_protection=True,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            encryption=(
                dynamodb.TableEncryption.CUSTOMER_MANAGED
                if customer_managed
                else dynamodb.TableEncryption.DEFAULT
            ),
            encryption_key=self._kms_key,
            removal_policy=RemovalPolicy.RETAIN,
        )

    @property
    def table(self) -> dynamodb.ITable:
        """The table."""
        return self._table

    @property
    def table_name(self) -> str:
        """Name of the table, to pass to the commands that buy."""
        return self._table.table_name

    @validate_arguments
    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to read orders and their history.

        Args:
            grantee: Principal to grant permissions to.
        """
        grant = self._grant(grantee, _READ)
        return grant.combine(self._kms_key.grant_decrypt(grantee)) if self._kms_key else grant

    @validate_arguments
    def grant_record(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to read, approve and record orders.

        Writes are allowed in transactions only: a single PutItem could reset an order so that it is sent again. Only locks
        can be deleted, not orders, their history or monthly totals.

        Args:
            grantee: Principal to grant permissions to: the role that buys.
        """
        in_transaction = {"ForAnyValue:StringEquals": {"dynamodb:EnclosingOperation": ["TransactWriteItems"]}}
        only_locks = {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": [_LOCKS]},
            "Null": {
                "dynamodb:LeadingKeys": "false"
            },  # ForAllValues alone also matches requests without values
        }
        grant = (
            self._grant(grantee, _READ)
            .combine(self._grant(grantee, _WRITE, conditions=in_transaction))
            .combine(self._grant(grantee, _RELEASE, conditions=in_transaction | only_locks))
        )
        if self._kms_key is None:
            return grant
        return grant.combine(self._kms_key.grant_encrypt_decrypt(grantee))

    def _grant(
        self, grantee: iam.IGrantable, actions: Sequence[str], *, conditions: Mapping[str, Any] | None = None
    ) -> iam.Grant:
        return grant(grantee, actions, [self._table.table_arn], conditions)


class _ExistingLedger(CapacityLedger):
    """Ledger returned by `CapacityLedger.from_table_name`."""

    @validate_arguments
    def __init__(
        self, scope: Construct, construct_id: str, *, table_name: str, kms_key: kms.IKey | None
    ) -> None:
        self._existing_name = table_name
        super().__init__(scope, construct_id, kms_key=kms_key)

    def _define_table(self) -> dynamodb.ITable:
        return dynamodb.Table.from_table_name(self, "Resource", self._existing_name)
