"""SNS topics for notifications, and permissions to publish to them, for AWS services and for functions."""

from collections.abc import Mapping, Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.permissions import allow


def notification_topic(scope: Construct, *, emails: Sequence[str], kms_key: kms.IKey | None) -> sns.Topic:
    """Define a topic that CloudWatch alarms may notify, as the child ``Topic``; its key must let CloudWatch use it."""
    topic = sns.Topic(scope, "Topic", master_key=kms_key, enforce_ssl=True)
    grant_publish(topic, sid="Alarms", service="cloudwatch.amazonaws.com")
    subscribe(scope, topic, emails)
    return topic


def subscribe(scope: Construct, topic: sns.ITopic, emails: Sequence[str]) -> None:
    """Subscribe mail addresses to a topic, each of which must confirm."""
    for number, address in enumerate(emails, start=1):
        sns.Subscription(
            scope, f"Email{number}", topic=topic, protocol=sns.SubscriptionProtocol.EMAIL, endpoint=address
        )


def grant_publish(
    topic: sns.ITopic, *, sid: str, service: str, source: Mapping[str, Mapping[str, str]] | None = None
) -> None:
    """Grant an AWS service permission to publish to a topic on behalf of this account, under conditions on the source.

    A policy that enforces TLS replaces the default policy, which admits the services of the account. An imported topic is
    not changed: its policy must already allow the service.
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
    """Return the statements that allow a role to publish to a topic and to use its KMS key, if it has one."""
    statements = [allow(sid, ["sns:Publish"], [topic.topic_arn])]
    if kms_key is not None:
        uses = ["kms:Decrypt", "kms:GenerateDataKey"]
        statements.append(allow(f"{sid}Encrypted", uses, [kms_key.key_arn]))
    return statements
