"""The ledger that makes buying capacity happen at most once: a DynamoDB table that is never lost by accident."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

__all__ = ["CapacityLedger"]

# Layout of the table, defined by ultracluster_runtime.purchasing.ledger; a test holds the two against each other.
_PARTITION_KEY = "pk"
_SORT_KEY = "sk"
_LOCKS = "LOCK#*"

_READ = ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"]
_WRITE = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
_RELEASE = ["dynamodb:DeleteItem"]


class CapacityLedger(Construct):
    """The table with every order of capacity, one for an account, in one home Region.

    PurchaseCapacityBlock takes no client token, so this table alone says that a request may have been sent already.
    It is a table of one Region and not a global table: eventually consistent replicas settle conflicting writes by
    the last writer, and two buyers in two Regions could then both win. It is protected against deletion, can be restored to any second of the
    last 35 days, and is kept when it leaves its stack. A ledger that was restored or made anew has forgotten
    purchases; the buyer looks for the tag ``uc:po`` in EC2 for that reason.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, encryption_key: kms.IKey | None = None
    ) -> None:
        """Define the table.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            encryption_key: Key that encrypts the table. Default: a key that AWS owns, without charge. When the key
                is lost, the ledger is lost.
        """
        super().__init__(scope, construct_id)
        self._encryption_key = encryption_key
        self._table = self._define_table()

    @classmethod
    def from_table_name(
        cls, scope: Construct, construct_id: str, table_name: str, *, encryption_key: kms.IKey | None = None
    ) -> "CapacityLedger":
        """Bring a ledger that exists, by the name of its table in the Region of the stack.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            table_name: Name of the table.
            encryption_key: Key that encrypts the table. Default: a key that AWS owns.
        """
        return _ExistingLedger(scope, construct_id, table_name=table_name, encryption_key=encryption_key)

    def _define_table(self) -> dynamodb.ITable:
        customer_managed = self._encryption_key is not None
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
            encryption_key=self._encryption_key,
            removal_policy=RemovalPolicy.RETAIN,
        )

    @property
    def table_name(self) -> str:
        """Name of the table; the commands that buy are told it."""
        return self._table.table_name

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody read every order and its history.

        Args:
            grantee: Who may read.
        """
        grant = self._grant(grantee, _READ)
        return grant.combine(self._encryption_key.grant_decrypt(grantee)) if self._encryption_key else grant

    def grant_record(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a buyer read, approve and record orders.

        Everything is written in transactions, and nothing outside of them is allowed: a bare PutItem could put an
        order back to where it may be sent. Only locks can be deleted, never an order, its history or a month's sum.

        Args:
            grantee: The role that buys.
        """
        in_transaction = {"ForAnyValue:StringEquals": {"dynamodb:EnclosingOperation": ["TransactWriteItems"]}}
        only_locks = {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": [_LOCKS]},
            "Null": {"dynamodb:LeadingKeys": "false"},  # ForAllValues alone is also true of no value
        }
        grant = (
            self._grant(grantee, _READ)
            .combine(self._grant(grantee, _WRITE, conditions=in_transaction))
            .combine(self._grant(grantee, _RELEASE, conditions=in_transaction | only_locks))
        )
        if self._encryption_key is None:
            return grant
        return grant.combine(self._encryption_key.grant_encrypt_decrypt(grantee))

    def _grant(
        self,
        grantee: iam.IGrantable,
        actions: Sequence[str],
        *,
        conditions: Mapping[str, Any] | None = None,
    ) -> iam.Grant:
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=list(actions),
            resource_arns=[self._table.table_arn],
            conditions=conditions,
        )


class _ExistingLedger(CapacityLedger):
    """A ledger that another stack, or nobody's stack any more, keeps."""

    def __init__(
        self, scope: Construct, construct_id: str, *, table_name: str, encryption_key: kms.IKey | None
    ) -> None:
        self._existing_name = table_name
        super().__init__(scope, construct_id, encryption_key=encryption_key)

    def _define_table(self) -> dynamodb.ITable:
        return dynamodb.Table.from_table_name(self, "Resource", self._existing_name)
