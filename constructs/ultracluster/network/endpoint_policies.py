"""Policies of VPC endpoints: the data, images, logs and metrics of named accounts, and what nodes need of AWS."""

from collections.abc import Sequence

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.permissions import PULL_ACTIONS
from ultracluster_catalog.names.identifiers import AWS_IMAGES
from ultracluster_spec.findings import is_token

# Buckets of AWS that nodes read: layers of images (Amazon ECR User Guide, "Minimum Amazon S3 bucket permissions"), packages and
# patches of the agent (Systems Manager User Guide, "SSM Agent communications with AWS managed S3 buckets"), the ECS agent, which
# an image without it downloads (Amazon ECS Developer Guide, "Installing the Amazon ECS container agent"), and packages of Amazon
# Linux and the CloudWatch agent (service_owned_resources.md of aws-samples/data-perimeter-policy-examples, 2026-03).
_AWS_BUCKETS = (
    "prod-{}-starport-layer-bucket",
    "amazon-ecs-agent-{}",
    "amazon-ssm-{}",
    "amazon-ssm-packages-{}",
    "aws-ssm-{}",
    "aws-ssm-distributor-file-{}",
    "aws-ssm-document-attachments-{}",
    "patch-baseline-snapshot-{}",
    "{}-birdwatcher-prod",
    "al2023-{}",
    "al2023-repos-{}-de612dc2",
    "amazonlinux-2-repos-{}",
    "amazoncloudwatch-agent-{}",
)


class EndpointPolicies:
    """Policies of the endpoints of a network, which a resource or an account can be added to until synthesis.

    Metrics and the agent of Systems Manager are limited by the account of the caller, because their calls take no resource or
    documents of AWS. AWS publishes no policy for ``ecs``, ``ecs-agent``, ``ecs-telemetry`` and ``ssmmessages``, and what
    further services need is unknown here: those endpoints have none.
    """

    def __init__(self, scope: Construct) -> None:
        """Allow the account of the stack, and what nodes read of AWS.

        Args:
            scope: Construct in the stack of the network.
        """
        self._allowed: set[str] = set()
        self._s3, self._ecr, self._logs, self._metrics, self._ssm = (iam.PolicyDocument() for _ in range(5))
        self._partition, self._anyone = Aws.PARTITION, iam.StarPrincipal()
        stack = Stack.of(scope)
        region = stack.region
        aws_buckets = [f"{self._bucket_arn(name.format(region))}/*" for name in _AWS_BUCKETS]
        self._allow(self._s3, ["s3:GetObject"], aws_buckets)
        self._allow(self._ecr, ["ecr:GetAuthorizationToken"], ["*"])
        self.allow_account(stack.account)
        self.allow_registry(AWS_IMAGES)  # jobs add the accounts of their images

    def document(self, service: str) -> iam.PolicyDocument | None:
        """Return the policy of the endpoint of a service; None leaves it open.

        Args:
            service: Name of the service after ``com.amazonaws.REGION``.
        """
        return {
            "s3": self._s3,
            "ecr.api": self._ecr,
            "ecr.dkr": self._ecr,
            "logs": self._logs,
            "monitoring": self._metrics,
            "ssm": self._ssm,
        }.get(service)

    def allow_account(self, account: str) -> None:
        """Allow buckets, repositories and log groups of an account, and its callers.

        Args:
            account: ID of the account.
        """
        self._allowed.add(account)
        self._allow(self._s3, ["s3:*"], ["*"], {"aws:ResourceAccount": account})
        self._allow(self._ecr, ["ecr:*"], [self._repositories_arn(account)])
        self._allow(self._logs, ["logs:*"], [f"arn:{self._partition}:logs:*:{account}:*"])
        self._allow(self._metrics, ["cloudwatch:*"], ["*"], {"aws:PrincipalAccount": account})
        self._allow(self._ssm, ["ssm:*"], ["*"], {"aws:PrincipalAccount": account})

    def allow_bucket(self, name: str) -> None:
        """Allow an existing bucket, which can be of another account.

        Args:
            name: Name of the bucket. A token is that of a bucket of this account.
        """
        if not is_token(name) and name not in self._allowed:
            self._allowed.add(name)
            self._allow(self._s3, ["s3:*"], [self._bucket_arn(name), f"{self._bucket_arn(name)}/*"])

    def allow_registry(self, account: str) -> None:
        """Allow image pulls from the repositories of an account; jobs do so for their images.

        Args:
            account: ID of the account.
        """
        if account not in self._allowed:
            self._allowed.add(account)
            self._allow(self._ecr, PULL_ACTIONS, [self._repositories_arn(account)])

    def _allow(
        self,
        document: iam.PolicyDocument,
        actions: Sequence[str],
        resources: Sequence[str],
        equals: dict[str, str] | None = None,
    ) -> None:
        document.add_statements(
            iam.PolicyStatement(
                principals=[self._anyone],
                actions=list(actions),
                resources=list(resources),
                conditions={"StringEquals": equals} if equals else None,
            )
        )

    def _bucket_arn(self, name: str) -> str:
        return f"arn:{self._partition}:s3:::{name}"

    def _repositories_arn(self, account: str) -> str:
        return f"arn:{self._partition}:ecr:*:{account}:repository/*"
