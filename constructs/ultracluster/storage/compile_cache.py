"""The Neuron compile cache on S3: a graph is compiled once, not once a node and not in paid hours."""

import re
from collections.abc import Mapping, Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.storage.bucket_replication import (
    allow_replication,
    check_destinations,
    replication_role,
    replication_rules,
)
from ultracluster.storage.private_bucket import define_bucket, grant_objects
from ultracluster_catalog.neuron.neuron import (
    RETRY_FAILED_COMPILATION_FLAG,
    XLA_CACHE_VARIABLE,
    XLA_COMPILER_FLAGS_VARIABLE,
)
from ultracluster_rules.buckets import COMPILER_VERSION, check_cache_prefix, check_replication_key
from ultracluster_rules.findings import Finding, FindingsError

__all__ = ["CompileCache"]

_PREFIX = "neuron"
_ABORT_UPLOAD_DAYS = 1
_METRICS_ID = "compile-cache"
_NONCURRENT_DAYS = 7  # an entry never changes, so an older version is worth nothing

# neuronxcc-MAJOR.MINOR.PATCH.BUILD+HASH is the folder of a compiler in the cache.
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+){0,2}")
_WHOLE_VERSION_DOTS = 3


class CompileCache(Construct):
    """A bucket for NEFFs, and the environment that makes torch-neuronx, XLA and JAX use it.

    One bucket in the cluster's own Region: a cache elsewhere costs transfer and time in paid hours. JAX shares it,
    because its Neuron plugin compiles through the same library. TorchNeuron (native) does not read it; it needs a
    POSIX path: `PosixCompileCache`.
    """

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
            scope: Where to add it.
            construct_id: Its id there.
            expire_after: When an entry is removed, counted from its writing. Default: never; compiling again
                in a paid block costs more than keeping it.
            expire_compilers: The same for single versions of neuronx-cc, such as ``{"2.19": Duration.days(30)}``:
                entries are found by their own version only, so those of one that nobody runs are dead. A version
                has two to four numbers. Default: none.
            request_metrics: Whether S3 counts the requests, for `metric_hits` and its siblings. They cost as much
                as custom metrics of CloudWatch, up to 16 of them, in the hours with requests. Default: no.
            versioned: Whether replaced entries are kept for a week, which a bucket needs to take copies of another
                one. A bucket that had versions once can only pause them. Default: only with `replicate_to`.
            replicate_to: Buckets of other Regions and the same account that S3 copies each new entry to: `bucket` of
                their versioned caches, by name. What is removed here stays there, and copies are not copied again, so
                that two caches can name each other. Default: none.
            kms_key: Key of your own for new entries. Not with `replicate_to`: S3 copies what it holds the keys of.
                Default: the keys of S3.
            removal_policy: What happens to the bucket when it leaves the stack. Default: it is kept.

        Raises:
            FindingsError: If a compiler's version is none (UC6014), a bucket cannot take copies (UC5140, UC5141), or a key is given
                with such buckets (UC5250).
        """
        versions = dict(expire_compilers or {})
        _check_versions(versions)
        check_destinations(replicate_to)
        _check_key(kms_key, replicate_to)
        versioned = versioned or bool(replicate_to)
        super().__init__(scope, construct_id)
        role = replication_role(self) if replicate_to else None
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
            replication_rules=replication_rules(replicate_to, prefix=f"{_PREFIX}/") if role else None,
        )
        if role:
            allow_replication(role, source=bucket, destinations=replicate_to, prefix=f"{_PREFIX}/")
        if request_metrics:
            bucket.add_metric(id=_METRICS_ID, prefix=f"{_PREFIX}/")
        self._bucket: s3.IBucket = bucket
        self._prefix = _PREFIX
        self._metrics_id = _METRICS_ID if request_metrics else None

    @classmethod
    def from_bucket(
        cls, scope: Construct, construct_id: str, bucket: s3.IBucket, *, prefix: str = _PREFIX
    ) -> "CompileCache":
        """Use a bucket that exists, such as one that several clusters of a Region share.

        Args:
            scope: Where to add the cache.
            construct_id: Its id there.
            bucket: The bucket; of the nodes' own Region. Its key, if it has one, must be known to it.
            prefix: Key prefix of the cache, without a slash at either end. Default: ``neuron``.

        Raises:
            FindingsError: If the prefix is empty or has a slash at an end (UC6014).
        """
        if findings := check_cache_prefix(prefix):
            raise FindingsError(findings)
        return _ExistingCache(scope, construct_id, bucket=bucket, prefix=prefix)

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""
        return self._bucket

    @property
    def url(self) -> str:
        """Where compilers look, an S3 key prefix."""
        return f"s3://{self._bucket.bucket_name}/{self._prefix}"

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables of a job that uses the cache.

        The address is given by ``NEURON_COMPILE_CACHE_URL`` alone: a ``--cache_dir`` in ``NEURON_CC_FLAGS`` would
        win over it. ``--retry_failed_compilation`` is set because failed compilations are cached as well.
        (Neuron documentation of the persistent cache, read 2026-10.)
        """
        return {
            XLA_CACHE_VARIABLE: self.url,
            XLA_COMPILER_FLAGS_VARIABLE: RETRY_FAILED_COMPILATION_FLAG,
        }

    def grant_use(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant looking up, fetching and storing compiled graphs, without deleting them.

        Args:
            grantee: Principal to grant permissions to, such as a job.
        """
        return grant_objects(
            self._bucket, grantee, actions=["s3:GetObject", "s3:PutObject"], prefix=f"{self._prefix}/"
        )

    def metric_hits(self) -> cloudwatch.Metric:
        """Objects of the cache that were fetched: each compiled graph that was found is some of them.

        Raises:
            FindingsError: If the requests are not counted (UC6015).
        """
        return self._metric("GetRequests", "Compile cache hits")

    def metric_misses(self) -> cloudwatch.Metric:
        """Lookups that found nothing: S3 answers 404 to those who may list the bucket.

        Raises:
            FindingsError: If the requests are not counted (UC6015).
        """
        return self._metric("4xxErrors", "Compile cache misses")

    def metric_stored(self) -> cloudwatch.Metric:
        """Objects that were stored: what was compiled. In a warm run there are none.

        Raises:
            FindingsError: If the requests are not counted (UC6015).
        """
        return self._metric("PutRequests", "Compile cache entries stored")

    def _metric(self, name: str, label: str) -> cloudwatch.Metric:
        if self._metrics_id is None:
            problem = "S3 does not count the requests of this cache"
            remedy = "Define it with request_metrics=True"
            raise FindingsError([Finding(code="UC6015", problem=problem, remedy=remedy)])
        return cloudwatch.Metric(
            namespace="AWS/S3",
            metric_name=name,
            dimensions_map={"BucketName": self._bucket.bucket_name, "FilterId": self._metrics_id},
            statistic="Sum",
            period=Duration.minutes(1),
            label=label,
        )


class _ExistingCache(CompileCache):
    """A cache in a bucket of somebody else, whose settings are theirs."""

    def __init__(self, scope: Construct, construct_id: str, *, bucket: s3.IBucket, prefix: str) -> None:
        Construct.__init__(self, scope, construct_id)
        self._bucket = bucket
        self._prefix = prefix
        self._metrics_id = None


def _compiler_folder(version: str) -> str:
    """How the keys of a compiler begin; with what follows the version, so that 2.1 is not 2.19 as well."""
    return f"neuronxcc-{version}{'+' if version.count('.') == _WHOLE_VERSION_DOTS else '.'}"


def _check_key(kms_key: kms.IKey | None, replicate_to: Sequence[s3.IBucket]) -> None:
    findings = check_replication_key(has_key=kms_key is not None, replicated=bool(replicate_to))
    if findings:
        raise FindingsError([finding.at("kms_key") for finding in findings])


def _check_versions(versions: Mapping[str, Duration]) -> None:
    wrong = [
        finding
        for version in versions
        for finding in COMPILER_VERSION.check(version, path="expire_compilers")
    ]
    if wrong:
        raise FindingsError(wrong)
