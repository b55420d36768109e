"""A KMS key for all data of a cluster, with permissions for the services around it."""

from aws_cdk import Aws, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster_spec.arguments import NOT_OF_ITS_TYPE, validate_arguments
from ultracluster_spec.findings import Finding, require

_USE = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
_PUBLISH = ["kms:Decrypt", "kms:GenerateDataKey*"]
# Prefix of the service-linked role that FSx creates for each file system linked to a bucket.
_FSX_ROLE = "aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_*"


class ClusterKey(Construct):
    """A KMS key with yearly rotation, retained when its stack is deleted, that the services around a cluster may use.

    These are CloudWatch Logs for the log groups of the account; EC2 for volumes, because the roles with which AWS Batch launches
    nodes have no KMS permissions; FSx for linked buckets; and CloudWatch, EventBridge and AWS Budgets for topics. Principals
    with IAM permissions in the account may use the key too; roles of our constructs get them where needed.

    Example::

        key = ClusterKey(stack, "Key").key
        UltraCluster(stack, "Cluster", kms_key=key, ...)
    """

    key: kms.IKey
    """Underlying key."""

    @validate_arguments
    def __init__(
        self, scope: Construct, construct_id: str, *, removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    ) -> None:
        """Define the key.

        Args:
            removal_policy: Removal policy of the key. Data encrypted with a deleted key is lost. Default: RETAIN.
        """
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Resource",
            description="What a training cluster keeps",
            enable_key_rotation=True,
            removal_policy=removal_policy,
        )
        self.node.default_child = self.key.node.default_child
        let_services_use(self.key, self)


def check_key(key: kms.IKey | None) -> list[Finding]:
    """Check that a key is no alias: a statement about the ARN of an alias allows nothing (AWS KMS guide, aliases, 2026-11)."""
    return require(
        # An imported one is an object of several interfaces, with a delegate for each.
        not any(hasattr(type(each), "alias_name") for each in (key, *getattr(key, "_delegates", ()))),
        NOT_OF_ITS_TYPE,
        "got an alias, and permissions for an alias allow nothing",
        allowed="a key, such as of kms.Key.from_lookup",
        path="kms_key",
    )


def let_services_use(key: kms.IKey, scope: Construct) -> list[Finding]:
    """Let the services around a cluster use a key, or warn (UC5251) about an imported key, whose policy cannot change."""
    added = True
    region = Stack.of(scope).region
    source_account = {"aws:SourceAccount": Aws.ACCOUNT_ID}
    caller = {"kms:CallerAccount": Aws.ACCOUNT_ID}
    any_principal = iam.AnyPrincipal()  # the conditions limit it to the account
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
        # Assumed to suffice, never tried on a real account: principals that may launch instances or attach volumes. The
        # service-linked roles of AWS Batch cannot be named, since KMS rejects key policies with principals that do not exist.
        _allow(
            "Volumes",
            any_principal,
            _USE,
            {"StringEquals": caller | {"kms:ViaService": f"ec2.{region}.amazonaws.com"}},
        ),
        _allow(
            "GrantForVolumes",
            any_principal,
            ["kms:CreateGrant"],
            {
                "StringEquals": caller | {"kms:ViaService": f"ec2.{region}.amazonaws.com"},
                "Bool": {"kms:GrantIsForAWSResource": "true"},
            },
        ),
        _allow(
            "JoinedBuckets",
            any_principal,
            _USE,
            {
                "StringEquals": caller | {"kms:ViaService": f"s3.{region}.amazonaws.com"},
                "ArnLike": {
                    "aws:PrincipalArn": f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/{_FSX_ROLE}"
                },
            },
        ),
        _allow(
            "Alarms",
            iam.ServicePrincipal("cloudwatch.amazonaws.com"),
            _PUBLISH,
            {"StringEquals": source_account},
        ),
        _allow(
            "Budgets",
            iam.ServicePrincipal("budgets.amazonaws.com"),
            _PUBLISH,
            {"StringEquals": source_account},
        ),
        # Without conditions on the source, as in capacity_guard.py: SNS does not support them for EventBridge.
        _allow("Events", iam.ServicePrincipal("events.amazonaws.com"), _PUBLISH, None),
    ):
        added = key.add_to_resource_policy(statement).statement_added
    return require(
        added,
        "UC5251",
        "the policy of an imported key is not known here; if it does not let the services use the key, no node starts",
        remedy="Copy the statements of ClusterKey into it, and check it with `ultracluster preflight`",
        path="kms_key",
    )


def _allow(
    sid: str, principal: iam.IPrincipal, actions: list[str], conditions: dict[str, dict[str, str]] | None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid, principals=[principal], actions=actions, resources=["*"], conditions=conditions
    )
