"""The Neuron compile cache on S3: a graph is compiled once, not once a node and not in paid hours."""

from collections.abc import Mapping

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.private_bucket import grant_objects, private_bucket

__all__ = ["CompileCache"]

_PREFIX = "neuron"
_ABORT_MULTIPART_DAYS = 1


class CompileCache(Construct):
    """A bucket for NEFFs, and the environment that makes torch-neuronx, XLA and JAX use it.

    One bucket in the cluster's own Region: a cache elsewhere costs transfer and time in paid hours. TorchNeuron
    (native) does not read it; it needs a POSIX path.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        expire_after: Duration | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Define the cache.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            expire_after: When an entry is removed, counted from its writing. Default: never; compiling again
                in a paid block costs more than keeping it.
            removal_policy: What happens to the bucket when it leaves the stack. Default: it is kept.
        """
        super().__init__(scope, construct_id)
        self._bucket = private_bucket(
            self,
            versioned=False,
            lifecycle_rule=s3.LifecycleRule(
                id="cache-entries",
                expiration=expire_after,
                abort_incomplete_multipart_upload_after=Duration.days(_ABORT_MULTIPART_DAYS),
            ),
            removal_policy=removal_policy,
        )

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""
        return self._bucket

    @property
    def url(self) -> str:
        """Where compilers look, an S3 key prefix."""
        return f"s3://{self._bucket.bucket_name}/{_PREFIX}"

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables of a job that uses the cache.

        The address is given by ``NEURON_COMPILE_CACHE_URL`` alone: a ``--cache_dir`` in ``NEURON_CC_FLAGS`` would
        win over it. ``--retry_failed_compilation`` is set because failed compilations are cached as well.
        (Neuron documentation of the persistent cache, read 2026-10.)
        """
        return {
            "NEURON_COMPILE_CACHE_URL": self.url,
            "NEURON_CC_FLAGS": "--retry_failed_compilation",
        }

    def grant_use(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let jobs look up, fetch and store compiled graphs; nobody may delete them.

        Args:
            grantee: The role of the jobs.
        """
        return grant_objects(
            self._bucket, grantee, prefix=f"{_PREFIX}/", actions=["s3:GetObject", "s3:PutObject"]
        )
