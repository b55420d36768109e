"""A table in which functions record, with conditional writes, what they must do exactly once."""

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster._foundation.permissions import allow

# Amazon DynamoDB Developer Guide, "DynamoDB encryption at rest: usage notes", read 2026-11, without the creation of grants.
_USE_KEY = [
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
]


class StateTable(dynamodb.Table):
    """The table of a construct, as its child ``State``, billed by request and retained when the stack is deleted."""

    def __init__(
        self, scope: Construct, *, kms_key: kms.IKey | None = None, expires: str | None = None
    ) -> None:
        """Define the table, whose items expire at an attribute in seconds since 1970, if any."""
        super().__init__(
            scope,
            "State",
            partition_key=dynamodb.Attribute(name="id", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            encryption=(
                dynamodb.TableEncryption.CUSTOMER_MANAGED if kms_key else dynamodb.TableEncryption.DEFAULT
            ),
            encryption_key=kms_key,
            time_to_live_attribute=expires,
            removal_policy=RemovalPolicy.RETAIN,
        )

    def statements(self, *actions: str) -> list[iam.PolicyStatement]:
        """Return the statements that allow a role some actions, such as ``dynamodb:UpdateItem``, on items of the table."""
        statements = [allow("Remember", actions, [self.table_arn])]
        if self.encryption_key is not None:
            statements.append(
                allow(
                    "RememberEncrypted",
                    _USE_KEY,
                    [self.encryption_key.key_arn],
                    {"StringEquals": {"kms:ViaService": f"dynamodb.{Aws.REGION}.{Aws.URL_SUFFIX}"}},
                )
            )
        return statements
