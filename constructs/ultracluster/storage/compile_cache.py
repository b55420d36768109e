"""The Neuron compile cache on S3, which lets a cluster compile each graph once, before its paid hours."""

from collections.abc import Mapping, Sequence
from typing import Unpack

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster._foundation.metric_options import MetricOptions
from ultracluster.storage.private_bucket import check_ages, define_bucket, grant_objects
from ultracluster_catalog.neuron.neuron import (
    RETRY_FAILED_COMPILATION_FLAG,
    XLA_CACHE_VARIABLE,
    XLA_COMPILER_FLAGS_VARIABLE,
)
from ultracluster_spec import buckets
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.buckets import COMPILER_VERSION, check_cache_prefix, check_replication_key
from ultracluster_spec.findings import Finding, FindingsError, is_token, quote, reject

_PREFIX = "neuron"
_ABORT_UPLOAD_DAYS = 1
_METRICS_ID = "compile-cache"
_NONCURRENT_DAYS = 7  # entries never change, so older versions are useless

# The cache stores the entries of a compiler in the folder neuronxcc-MAJOR.MINOR.PATCH.BUILD+HASH.
_WHOLE_VERSION_DOTS = 3


class CompileCache(Construct):
    """A bucket for NEFFs, and the environment with which torch-neuronx, XLA and JAX use it.

    Use one cache per Region: another Region costs data transfer and paid time. JAX shares the cache, because its Neuron
    plugin compiles with the same library. TorchNeuron (native) needs a POSIX path instead: `PosixCompileCache`.
    """

    bucket: s3.IBucket
    """Underlying bucket."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        expire_after: Duration | None = None,
        expire_compilers: Mapping[str, Duration] | None = None,
        request_metrics: bool = False,
        versioned: bool = False,
        replicate_to: Sequence[s3.IBucket] = (),
        kms_key: kms.IKey | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Define the cache.

        Args:
            expire_after: When entries are deleted, counted from their creation. Default: never; compiling again in a paid
                block costs more than storage.
            expire_compilers: The same for individual versions of neuronx-cc, such as ``{"2.19": Duration.days(30)}``.
                Entries are reused only by the same version, so those of a retired version have no use. A version has
                two to four numbers. Default: none.
            request_metrics: Whether to enable S3 request metrics, for `metric_hits`, `metric_misses` and
                `metric_stored`. They are billed as up to 16 CloudWatch custom metrics in hours with requests.
                Default: False.
            versioned: Whether to keep replaced entries for a week, required for a replication destination. Versioning can
                be suspended later, but not removed. Default: only with `replicate_to`.
            replicate_to: Buckets of versioned caches in other Regions of the same account to which S3 copies each new
                entry. Deletions are not replicated and copies are not copied again, so two caches can replicate to each
                other. Default: none.
            kms_key: KMS key for new entries. Cannot be combined with `replicate_to`, which requires S3 managed keys.
                Default: S3 managed keys.
            removal_policy: Removal policy of the bucket. Default: RETAIN.

        Raises:
            FindingsError: If a compiler version is malformed (UC6014), an age is no number of days (UC5143), a bucket cannot be a replication destination
                (UC5140, UC5141), or `kms_key` and `replicate_to` are both set (UC5250).
        """
        versions = dict(expire_compilers or {})
        ages = {
            "expire_after": expire_after,
            **{f"expire_compilers.{key}": age for key, age in versions.items()},
        }
        reject(
            [
                *(
                    finding
                    for version in versions
                    for finding in COMPILER_VERSION.check(version, path="expire_compilers")
                ),
                *check_ages(ages),
            ]
        )
        reject(_check_destinations(replicate_to))
        findings = check_replication_key(has_key=kms_key is not None, replicated=bool(replicate_to))
        reject(finding.at("kms_key") for finding in findings)
        versioned = versioned or bool(replicate_to)
        super().__init__(scope, construct_id)
        role = None
        if replicate_to:
            role = iam.Role(
                self,
                "ReplicationRole",
                assumed_by=iam.ServicePrincipal("s3.amazonaws.com"),
                description="Copies new objects to buckets of other Regions",
            )
        bucket = define_bucket(
            self,
            versioned=versioned,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="cache-entries",
                    expiration=expire_after,
                    abort_incomplete_multipart_upload_after=Duration.days(_ABORT_UPLOAD_DAYS),
                    noncurrent_version_expiration=Duration.days(_NONCURRENT_DAYS) if versioned else None,
                ),
                *(
                    s3.LifecycleRule(
                        id=f"compiler-{version}",
                        prefix=f"{_PREFIX}/{_compiler_folder(version)}",
                        expiration=age,
                    )
                    for version, age in versions.items()
                ),
            ],
            removal_policy=removal_policy,
            kms_key=kms_key,
            replication_role=role,
            replication_rules=_replication_rules(replicate_to),
        )
        if role:
            _allow_replication(role, source=bucket, destinations=replicate_to)
        if request_metrics:
            bucket.add_metric(id=_METRICS_ID, prefix=f"{_PREFIX}/")
        self.bucket: s3.IBucket = bucket
        self._prefix = _PREFIX
        self._metrics_id = _METRICS_ID if request_metrics else None

    @classmethod
    @validate_arguments
    def from_bucket(
        cls, scope: Construct, construct_id: str, bucket: s3.IBucket, *, prefix: str = _PREFIX
    ) -> "CompileCache":
        """Import an existing bucket, such as one that several clusters of a Region share.

        Args:
            bucket: Bucket in the Region of the nodes, with its encryption key if it has a customer managed one.
            prefix: Key prefix of the cache, without a slash at either end. Default: ``neuron``.

        Raises:
            FindingsError: If the prefix is empty or has a slash at either end (UC6014).
        """
        reject(check_cache_prefix(prefix))
        return _ExistingCache(scope, construct_id, bucket=bucket, prefix=prefix)

    @property
    def url(self) -> str:
        """S3 URL of the cache."""
        return f"s3://{self.bucket.bucket_name}/{self._prefix}"

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of a job that uses the cache.

        The URL is set by ``NEURON_COMPILE_CACHE_URL`` only: a ``--cache_dir`` in ``NEURON_CC_FLAGS`` would take precedence.
        ``--retry_failed_compilation`` is set because failed compilations are cached as well.
        (Neuron documentation of the persistent cache, read 2026-10.)
        """
        return {XLA_CACHE_VARIABLE: self.url, XLA_COMPILER_FLAGS_VARIABLE: RETRY_FAILED_COMPILATION_FLAG}

    @validate_arguments
    def grant_use(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to look up, read and write entries, but not to delete them.

        Args:
            grantee: Principal to grant permissions to, such as a job.
        """
        return grant_objects(
            self.bucket, grantee, actions=["s3:GetObject", "s3:PutObject"], prefix=f"{self._prefix}/"
        )

    @validate_arguments
    def metric_hits(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the number of objects fetched from the cache; a cache hit fetches several.

        Raises:
            FindingsError: If request metrics are not enabled (UC6015).
        """
        return self._metric("GetRequests", "Compile cache hits", options)

    @validate_arguments
    def metric_misses(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the number of failed lookups: S3 returns 404 to principals that may list the bucket.

        Raises:
            FindingsError: If request metrics are not enabled (UC6015).
        """
        return self._metric("4xxErrors", "Compile cache misses", options)

    @validate_arguments
    def metric_stored(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the number of stored objects, that is, of compilations; 0 with a warm cache.

        Raises:
            FindingsError: If request metrics are not enabled (UC6015).
        """
        return self._metric("PutRequests", "Compile cache entries stored", options)

    def _metric(self, name: str, label: str, options: MetricOptions) -> cloudwatch.Metric:
        if self._metrics_id is None:
            problem = "request metrics are not enabled for this cache"
            remedy = "Set request_metrics=True"
            raise FindingsError.of("UC6015", problem, remedy=remedy)
        defaults = MetricOptions(statistic="Sum", period=Duration.minutes(1), label=label)
        return cloudwatch.Metric(
            namespace="AWS/S3",
            metric_name=name,
            dimensions_map={"BucketName": self.bucket.bucket_name, "FilterId": self._metrics_id},
            **defaults | options,
        )


class _ExistingCache(CompileCache):
    """Cache returned by `CompileCache.from_bucket`."""

    @validate_arguments
    def __init__(self, scope: Construct, construct_id: str, *, bucket: s3.IBucket, prefix: str) -> None:
        Construct.__init__(self, scope, construct_id)
        self.bucket = bucket
        self._prefix = prefix
        self._metrics_id = None


def _compiler_folder(version: str) -> str:
    """Return the key prefix of a compiler version, with the next separator so that 2.1 does not match 2.19."""
    return f"neuronxcc-{version}{'+' if version.count('.') == _WHOLE_VERSION_DOTS else '.'}"


def _check_destinations(destinations: Sequence[s3.IBucket]) -> list[Finding]:
    """Check for duplicate destinations (UC5140), and for those with a customer managed key (UC5141)."""
    names = [bucket.bucket_name for bucket in destinations]
    known = [None if is_token(name) else name for name in names]
    findings = [finding.at(f"replicate_to[{index}]") for index, finding in buckets.check_destinations(known)]
    findings += [
        Finding(
            "UC5141",
            f"{quote(bucket.bucket_name)} has a customer managed key",
            remedy="Use a bucket with S3 managed keys, such as that of a CompileCache",
            path=f"replicate_to[{index}]",
        )
        for index, bucket in enumerate(destinations)
        if bucket.encryption_key is not None
    ]
    return findings


def _replication_rules(destinations: Sequence[s3.IBucket]) -> list[s3.ReplicationRule]:
    """Return one rule for new entries per destination. Deletions are not replicated."""
    return [
        s3.ReplicationRule(
            id=f"copy-{number}",
            priority=number,  # must be unique, even though each rule has its own destination
            destination=bucket,
            filter=s3.Filter(prefix=f"{_PREFIX}/"),
            delete_marker_replication=False,
        )
        for number, bucket in enumerate(destinations, start=1)
    ]


def _allow_replication(role: iam.Role, *, source: s3.IBucket, destinations: Sequence[s3.IBucket]) -> None:
    """Allow S3 to read new versions from the source and to write them to the destinations.

    The actions are those of the S3 User Guide, "Setting up permissions for live replication" (read 2026-10), without
    the one that replicates deletions.
    """
    for actions, resources in (
        (["s3:GetReplicationConfiguration", "s3:ListBucket"], [source.bucket_arn]),
        (
            ["s3:GetObjectVersionForReplication", "s3:GetObjectVersionAcl", "s3:GetObjectVersionTagging"],
            [f"{source.bucket_arn}/{_PREFIX}/*"],
        ),
        (
            ["s3:ReplicateObject", "s3:ReplicateTags"],
            [f"{bucket.bucket_arn}/{_PREFIX}/*" for bucket in destinations],
        ),
    ):
        role.add_to_policy(iam.PolicyStatement(actions=actions, resources=resources))
