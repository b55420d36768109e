"""Where nodes without a way out pull their images from: a private repository, and a cache of the public gallery."""

import re

from aws_cdk import Aws, Duration, RemovalPolicy, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.images.container_image import ContainerImage
from ultracluster_catalog.neuron.neuron_containers import NeuronContainer
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.plain_numbers import takes_plain_numbers

__all__ = ["PullThroughCache", "TrainingImageRepository"]

_GALLERY = "public.ecr.aws"
_ALIAS = "neuron"  # of AWS's images for Neuron in the gallery
_PREFIX = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*")
_PREFIX_LENGTHS = range(2, 31)


class TrainingImageRepository(Construct):
    """A private repository of container images, kept when the stack goes.

    A tag never moves: all nodes and all attempts of a job run the same image. Images are scanned when they are pushed,
    and encrypted by KMS. Only what no tag names any more is removed.
    """

    @takes_plain_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        untagged_days: int = 14,
        encryption_key: kms.IKey | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Define the repository.

        Args:
            scope: Parent construct.
            construct_id: Construct ID.
            untagged_days: Days until an image without a tag is removed, 1 or more. Default: 14.
            encryption_key: KMS key. Default: the key of Amazon ECR in the account.
            removal_policy: What happens to it when it leaves the stack. Default: it is kept.

        Raises:
            FindingsError: If untagged_days is below 1 (UC6339).
        """
        if untagged_days < 1:
            raise FindingsError(
                [
                    Finding(
                        code="UC6339",
                        problem=f"got {quote(untagged_days)}",
                        allowed="1 or more",
                        path="untagged_days",
                    )
                ]
            )
        super().__init__(scope, construct_id)
        self._repository = ecr.Repository(
            self,
            "Resource",
            image_tag_mutability=ecr.TagMutability.IMMUTABLE,
            image_scan_on_push=True,
            encryption=ecr.RepositoryEncryption.KMS,
            encryption_key=encryption_key,
            removal_policy=removal_policy,
            lifecycle_rules=[
                ecr.LifecycleRule(
                    description="Images that no tag names",
                    tag_status=ecr.TagStatus.UNTAGGED,
                    max_image_age=Duration.days(untagged_days),
                )
            ],
        )

    def image(self, tag: str) -> ContainerImage:
        """Give an image for jobs, which may pull it then.

        Args:
            tag: Its tag.
        """
        return ContainerImage.from_repository(self._repository, tag)

    def grant_pull(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody pull, such as the execution role of a job.

        Args:
            grantee: Who may.
        """
        return self._repository.grant_pull(grantee)

    def grant_push(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody push, such as what builds images, or copies them from the public gallery.

        Args:
            grantee: Who may.
        """
        return self._repository.grant_push(grantee)

    @property
    def repository(self) -> ecr.IRepository:
        """The repository."""
        return self._repository


class PullThroughCache(Construct):
    """A pull-through cache: what is pulled once from the public gallery stays in the private registry.

    The first pull of an image has to come from where there is a way out: through VPC endpoints alone, Amazon ECR fetches
    nothing. So pull each image once from elsewhere before nodes need it; then they find it without a way out.
    """

    def __init__(self, scope: Construct, construct_id: str, *, prefix: str = "ecr-public") -> None:
        """Define the rule.

        Args:
            scope: Parent construct.
            construct_id: Construct ID.
            prefix: What the repositories of the cache begin with. One account has one rule of a prefix in a Region.
                Default: ``ecr-public``.

        Raises:
            FindingsError: If Amazon ECR takes no such prefix (UC6339).
        """
        if not _PREFIX.fullmatch(prefix) or len(prefix) not in _PREFIX_LENGTHS:
            raise FindingsError(
                [
                    Finding(
                        code="UC6339",
                        problem=f"got {quote(prefix)}",
                        allowed="2 to 30 lower-case letters and digits, with single . _ - / between them",
                        path="prefix",
                    )
                ]
            )
        super().__init__(scope, construct_id)
        self._prefix = prefix
        ecr.CfnPullThroughCacheRule(
            self, "Resource", ecr_repository_prefix=prefix, upstream_registry_url=_GALLERY
        )

    def image(self, container: NeuronContainer) -> ContainerImage:
        """Give one of AWS's images in the cache for jobs, which may pull it then.

        Args:
            container: A row of `NEURON_CONTAINERS`, such as `neuron_container` gives.

        Raises:
            FindingsError: If no source names its tag (UC6332).
        """
        stack = Stack.of(self)
        registry = f"{stack.account}.dkr.ecr.{stack.region}.{Aws.URL_SUFFIX}/{self._prefix}/{_ALIAS}"
        return ContainerImage(reference=container.uri(registry), grant_pull=self.grant_pull)

    def grant_pull(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody pull what the cache holds.

        Args:
            grantee: Who may.
        """
        return self._grant(grantee, [])

    def grant_fill(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody pull what the cache does not hold yet, which makes it hold it.

        Args:
            grantee: Who may: somebody with a way out, not the nodes.
        """
        return self._grant(grantee, ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"])

    def _grant(self, grantee: iam.IGrantable, more: list[str]) -> iam.Grant:
        stack = Stack.of(self)
        login = iam.Grant.add_to_principal(
            grantee=grantee, actions=["ecr:GetAuthorizationToken"], resource_arns=["*"]
        )
        pull = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=[
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
                *more,
            ],
            resource_arns=[
                stack.format_arn(
                    service="ecr", resource="repository", resource_name=f"{self._prefix}/{_ALIAS}/*"
                )
            ],
        )
        return login.combine(pull)

    @property
    def prefix(self) -> str:
        """What the repositories of the cache begin with."""
        return self._prefix
