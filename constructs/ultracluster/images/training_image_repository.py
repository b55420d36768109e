"""Container images for nodes without internet access: a private repository, and a cache of Amazon ECR Public."""

import re

from aws_cdk import Aws, Duration, RemovalPolicy, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster._foundation.permissions import PULL_ACTIONS, grant
from ultracluster.images.container_image import ContainerImage
from ultracluster_catalog.neuron.neuron_containers import NeuronContainer
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.images import container_uri

_GALLERY = "public.ecr.aws"
_ALIAS = "neuron"  # the registry alias of AWS Neuron in Amazon ECR Public
_PREFIX = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*")
_PREFIX_LENGTHS = range(2, 31)


class TrainingImageRepository(Construct):
    """A private repository of container images, retained when the stack is deleted.

    Tags are immutable: all nodes and all attempts of a job run the same image. Images are scanned on push and encrypted
    with KMS. Only untagged images expire.
    """

    repository: ecr.IRepository
    """Underlying repository."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        untagged_days: int = 14,
        kms_key: kms.IKey | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Define the repository.

        Args:
            untagged_days: Days until an untagged image expires, at least 1. Default: 14.
            kms_key: KMS key. Default: the AWS managed key for Amazon ECR.
            removal_policy: Removal policy of the repository. Default: RETAIN.

        Raises:
            FindingsError: If `untagged_days` is below 1 (UC6339).
        """
        if untagged_days < 1:
            raise FindingsError.of(
                "UC6339", f"got {quote(untagged_days)}", allowed="1 or more", path="untagged_days"
            )
        super().__init__(scope, construct_id)
        self.repository = ecr.Repository(
            self,
            "Resource",
            image_tag_mutability=ecr.TagMutability.IMMUTABLE,
            image_scan_on_push=True,
            encryption=ecr.RepositoryEncryption.KMS,
            encryption_key=kms_key,
            removal_policy=removal_policy,
            lifecycle_rules=[
                ecr.LifecycleRule(
                    description="Images that no tag names",
                    tag_status=ecr.TagStatus.UNTAGGED,
                    max_image_age=Duration.days(untagged_days),
                )
            ],
        )
        self.node.default_child = self.repository.node.default_child

    @validate_arguments
    def image(self, tag: str) -> ContainerImage:
        """Return an image for jobs, with permission to pull it.

        Args:
            tag: Tag of the image.
        """
        return ContainerImage.from_repository(self.repository, tag)

    @validate_arguments
    def grant_pull(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to pull images.

        Args:
            grantee: Principal to grant permissions to, such as the execution role of a job.
        """
        return self.repository.grant_pull(grantee)

    @validate_arguments
    def grant_push(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to push images.

        Args:
            grantee: Principal to grant permissions to, such as the role of an image build.
        """
        return self.repository.grant_push(grantee)


class PullThroughCache(Construct):
    """A pull-through cache rule: images pulled from Amazon ECR Public are kept in the private registry.

    Amazon ECR cannot fetch an image through VPC endpoints alone, so the first pull needs internet access. Pull each image
    once from elsewhere; nodes without internet access can then pull it from the cache.
    """

    prefix: str
    """Prefix of the repositories of the cache."""

    @validate_arguments
    def __init__(self, scope: Construct, construct_id: str, *, prefix: str = "ecr-public") -> None:
        """Define the rule.

        Args:
            prefix: Prefix of the repositories of the cache, unique in an account and Region. Default: ``ecr-public``.

        Raises:
            FindingsError: If Amazon ECR rejects the prefix (UC6339).
        """
        if not _PREFIX.fullmatch(prefix) or len(prefix) not in _PREFIX_LENGTHS:
            raise FindingsError.of(
                "UC6339",
                f"got {quote(prefix)}",
                allowed="2 to 30 lower-case letters and digits, with single . _ - / between them",
                path="prefix",
            )
        super().__init__(scope, construct_id)
        self.prefix = prefix
        ecr.CfnPullThroughCacheRule(
            self, "Resource", ecr_repository_prefix=prefix, upstream_registry_url=_GALLERY
        )

    @validate_arguments
    def image(self, container: NeuronContainer) -> ContainerImage:
        """Return one of AWS's Neuron images in the cache, with permission to pull it.

        Args:
            container: An entry of `NEURON_CONTAINERS`, for example from `neuron_container`.

        Raises:
            FindingsError: If the tag of the image is unknown (UC6332).
        """
        stack = Stack.of(self)
        registry = f"{stack.account}.dkr.ecr.{stack.region}.{Aws.URL_SUFFIX}/{self.prefix}/{_ALIAS}"
        return ContainerImage(reference=container_uri(container, registry), grant_pull=self.grant_pull)

    @validate_arguments
    def grant_pull(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to pull images that are in the cache.

        Args:
            grantee: Principal to grant permissions to.
        """
        return self._grant(grantee, [])

    @validate_arguments
    def grant_fill(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to pull images that are not in the cache yet, which adds them to it.

        Args:
            grantee: Principal to grant permissions to; not the role of nodes, which have no internet access.
        """
        return self._grant(grantee, ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"])

    def _grant(self, grantee: iam.IGrantable, more: list[str]) -> iam.Grant:
        copies = Stack.of(self).format_arn(
            service="ecr", resource="repository", resource_name=f"{self.prefix}/{_ALIAS}/*"
        )
        login = grant(grantee, ["ecr:GetAuthorizationToken"], ["*"])
        return login.combine(grant(grantee, [*PULL_ACTIONS, *more], [copies]))
