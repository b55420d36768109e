"""Permissions to publish to topics: for services of AWS, and for functions."""

from collections.abc import Mapping

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

__all__ = ["grant_publish", "publish_statements"]


def grant_publish(
    topic: sns.ITopic,
    *,
    sid: str,
    service: str,
    source: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Grant a service of AWS to publish to a topic of this app, on behalf of this account only.

    A policy that requires TLS replaces the default policy, by which the services of the account may publish. An imported topic is left
    as it is: its policy must allow the service already.

    Args:
        topic: The topic.
        sid: Sid of the statement.
        service: The service, such as ``cloudwatch.amazonaws.com``.
        source: Further conditions on the request. Default: none.
    """
    if not isinstance(topic, sns.Topic):
        return
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            sid=sid,
            principals=[iam.ServicePrincipal(service)],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions={**(source or {}), "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
        )
    )


def publish_statements(sid: str, topic: sns.ITopic, kms_key: kms.IKey | None) -> list[iam.PolicyStatement]:
    """Return the statements with which a role publishes to a topic.

    Args:
        sid: Sid of the first statement.
        topic: The topic.
        kms_key: Key that encrypts the topic. None for none.
    """
    statements = [iam.PolicyStatement(sid=sid, actions=["sns:Publish"], resources=[topic.topic_arn])]
    if kms_key is not None:
        uses = ["kms:Decrypt", "kms:GenerateDataKey"]
        statements.append(
            iam.PolicyStatement(sid=f"{sid}Encrypted", actions=uses, resources=[kms_key.key_arn])
        )
    return statements
