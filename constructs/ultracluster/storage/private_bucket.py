"""What holds for every bucket of a cluster: private, encrypted, TLS only, named by CloudFormation."""

from dataclasses import dataclass

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster._foundation.l2_on_request import l2_in_place_of
from ultracluster._foundation.statement import Statement, policy_document

__all__ = ["Lifecycle", "PrivateBucket", "l2_bucket", "use_objects"]

_MINIMUM_TLS = 1.2


@dataclass(frozen=True, kw_only=True)
class Lifecycle:
    """What goes from a bucket, and when, in days.

    Attributes:
        name: Name of the rule.
        abort_upload_after: When the parts of an upload that nobody ended go.
        expire_after: When current versions go. None for never.
        replaced_after: When replaced and removed versions go. None for never.
        infrequent_access_after: When objects move to the storage class for infrequent access. None for never.
    """

    name: str
    abort_upload_after: float
    expire_after: float | None = None
    replaced_after: float | None = None
    infrequent_access_after: float | None = None


class PrivateBucket:
    """The bucket of a construct, as its child ``Resource``, of L1 constructs until somebody asks for the L2 one."""

    _l2: s3.Bucket | None = None

    def __init__(
        self,
        scope: Construct,
        *,
        versioned: bool,
        lifecycle: Lifecycle,
        removal_policy: RemovalPolicy,
        kms_key: kms.IKey | None = None,
        replication_role: iam.IRole | None = None,
        replication_rules: list[s3.ReplicationRule] | None = None,
    ) -> None:
        """Define the bucket.

        Args:
            scope: The construct.
            versioned: Whether replaced and removed objects are kept as versions.
            lifecycle: What goes, and when.
            removal_policy: What happens to the bucket when it leaves the stack.
            kms_key: Key that new objects are encrypted with. Default: the keys of S3.
            replication_role: Role that S3 copies new objects with. Default: nothing is copied.
            replication_rules: What is copied, and where to.
        """
        self._scope = scope
        self._versioned = versioned
        self._lifecycle = lifecycle
        self._removal_policy = removal_policy
        self._kms_key = kms_key
        self._replication_role = replication_role
        self._replication_rules = replication_rules
        place = Construct(scope, "Resource")
        self._resource = self._define_bucket(place)
        self._resource.apply_removal_policy(removal_policy)
        self._bucket_name = self._resource.ref
        self._bucket_arn = self._resource.attr_arn
        s3.CfnBucketPolicy(
            Construct(place, "Policy"),
            "Resource",
            bucket=self._bucket_name,
            policy_document=policy_document(
                {
                    "Effect": "Deny",
                    "Principal": {"AWS": "*"},
                    "Action": "s3:*",
                    "Resource": [self._bucket_arn, f"{self._bucket_arn}/*"],
                    "Condition": condition,
                }
                for condition in (
                    {"Bool": {"aws:SecureTransport": "false"}},
                    {"NumericLessThan": {"s3:TlsVersion": _MINIMUM_TLS}},
                )
            ),
        )
        if replication_rules:
            self._l2 = self._in_place()

    def _define_bucket(self, place: Construct) -> s3.CfnBucket:
        key = self._kms_key
        return s3.CfnBucket(
            place,
            "Resource",
            bucket_encryption=s3.CfnBucket.BucketEncryptionProperty(
                server_side_encryption_configuration=[
                    s3.CfnBucket.ServerSideEncryptionRuleProperty(
                        # One request to KMS for many objects; without a key of one's own there is nothing to ask for.
                        bucket_key_enabled=True if key else None,
                        server_side_encryption_by_default=s3.CfnBucket.ServerSideEncryptionByDefaultProperty(
                            sse_algorithm="aws:kms" if key else "AES256",
                            kms_master_key_id=key.key_arn if key else None,
                        ),
                    )
                ]
            ),
            lifecycle_configuration=s3.CfnBucket.LifecycleConfigurationProperty(rules=[self._rule()]),
            ownership_controls=s3.CfnBucket.OwnershipControlsProperty(
                rules=[s3.CfnBucket.OwnershipControlsRuleProperty(object_ownership="BucketOwnerEnforced")]
            ),
            public_access_block_configuration=s3.CfnBucket.PublicAccessBlockConfigurationProperty(
                block_public_acls=True,
                block_public_policy=True,
                ignore_public_acls=True,
                restrict_public_buckets=True,
            ),
            versioning_configuration=(
                s3.CfnBucket.VersioningConfigurationProperty(status="Enabled") if self._versioned else None
            ),
        )

    def _rule(self) -> s3.CfnBucket.RuleProperty:
        given = self._lifecycle
        moved, replaced = given.infrequent_access_after, given.replaced_after
        return s3.CfnBucket.RuleProperty(
            id=given.name,
            status="Enabled",
            abort_incomplete_multipart_upload=s3.CfnBucket.AbortIncompleteMultipartUploadProperty(
                days_after_initiation=given.abort_upload_after
            ),
            expiration_in_days=given.expire_after,
            noncurrent_version_expiration=(
                s3.CfnBucket.NoncurrentVersionExpirationProperty(noncurrent_days=replaced)
                if replaced is not None
                else None
            ),
            transitions=(
                [s3.CfnBucket.TransitionProperty(storage_class="STANDARD_IA", transition_in_days=moved)]
                if moved is not None
                else None
            ),
        )

    @property
    def bucket(self) -> s3.Bucket:
        """The bucket, for what only an L2 construct can do."""
        if self._l2 is None:
            self._l2 = self._in_place()
        return self._l2

    @property
    def bucket_arn(self) -> str:
        """ARN of the bucket."""
        return self._bucket_arn

    @property
    def bucket_name(self) -> str:
        """Name of the bucket."""
        return self._bucket_name

    @property
    def encryption_key(self) -> kms.IKey | None:
        """Key of new objects; None is that of S3."""
        return self._kms_key

    def _in_place(self) -> s3.Bucket:
        return l2_in_place_of(
            self._resource, scope=self._scope, construct_id="Resource", make=self._define_l2
        )

    def _define_l2(self) -> s3.Bucket:
        given, key = self._lifecycle, self._kms_key
        moves = given.infrequent_access_after
        return s3.Bucket(
            self._scope,
            "Resource",
            versioned=self._versioned,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,
            enforce_ssl=True,
            minimum_tls_version=_MINIMUM_TLS,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=self._removal_policy,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id=given.name,
                    abort_incomplete_multipart_upload_after=Duration.days(given.abort_upload_after),
                    expiration=_days(given.expire_after),
                    noncurrent_version_expiration=_days(given.replaced_after),
                    transitions=(
                        [
                            s3.Transition(
                                storage_class=s3.StorageClass.INFREQUENT_ACCESS, transition_after=_days(moves)
                            )
                        ]
                        if moves is not None
                        else None
                    ),
                )
            ],
            replication_role=self._replication_role,
            replication_rules=self._replication_rules,
        )


def l2_bucket(bucket: s3.IBucket | PrivateBucket) -> s3.IBucket:
    """Give a bucket, ours or another, as an L2 construct.

    Args:
        bucket: The bucket.
    """
    return bucket.bucket if isinstance(bucket, PrivateBucket) else bucket


def use_objects(
    bucket: s3.IBucket | PrivateBucket, *, name: str, prefix: str = "", actions: list[str]
) -> list[Statement]:
    """Give the statements that let somebody list the bucket and do `actions` with its objects.

    The CDK's own grants use wildcard actions and allow deleting; ours name each action. Where the bucket has a key
    of its own, they may use it through it.

    Args:
        bucket: The bucket.
        name: What the statements call it.
        prefix: Key prefix of the objects, ending in a slash. Default: all objects.
        actions: What may be done with an object.
    """
    arn, key = bucket.bucket_arn, bucket.encryption_key
    statements = [
        Statement(["s3:ListBucket"], [arn], sid=f"List{name}"),
        Statement(actions, [f"{arn}/{prefix}*"], sid=f"Use{name}"),
    ]
    if key is None:
        return statements
    # A part of a multipart upload is read again with the key, so that writing needs both.
    uses = ["kms:Decrypt", *(["kms:GenerateDataKey"] if "s3:PutObject" in actions else [])]
    return [*statements, Statement(uses, [key.key_arn], sid=f"KeyOf{name}")]


def _days(days: float | None) -> Duration | None:
    return None if days is None else Duration.days(days)
