"""What a topic of ours says about who publishes to it."""

from collections.abc import Mapping

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns

__all__ = ["let_publish"]


def let_publish(
    topic: sns.Topic, *, sid: str, service: str, source: Mapping[str, Mapping[str, str]] | None = None
) -> None:
    """Let a service of AWS publish to a new topic, on behalf of this account only.

    The policy that requires TLS has taken the place of the one that lets the account's services publish.

    Args:
        topic: The topic.
        sid: What to call the statement.
        service: The service, such as ``cloudwatch.amazonaws.com``.
        source: Conditions on what it publishes for. Default: anything of the account.
    """
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            sid=sid,
            principals=[iam.ServicePrincipal(service)],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions={**(source or {}), "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
        )
    )
