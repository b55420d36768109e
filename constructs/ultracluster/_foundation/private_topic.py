"""Permissions to publish to SNS topics, for AWS services and for functions."""

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
    """Grant an AWS service permission to publish to a topic on behalf of this account only.

    A policy that enforces TLS replaces the default policy, which admits the services of the account. An imported topic is not
    changed: its policy must already allow the service.

    Args:
        topic: Topic.
        sid: Sid of the statement.
        service: Service principal, such as ``cloudwatch.amazonaws.com``.
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
    """Return the statements that allow a role to publish to a topic.

    Args:
        sid: Sid of the first statement.
        topic: Topic.
        kms_key: KMS key of the topic. None if it is not encrypted.
    """
    statements = [iam.PolicyStatement(sid=sid, actions=["sns:Publish"], resources=[topic.topic_arn])]
    if kms_key is not None:
        uses = ["kms:Decrypt", "kms:GenerateDataKey"]
        statements.append(
            iam.PolicyStatement(sid=f"{sid}Encrypted", actions=uses, resources=[kms_key.key_arn])
        )
    return statements
