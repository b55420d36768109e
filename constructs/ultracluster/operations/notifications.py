"""Notifications of a cluster and their recipients."""

from collections.abc import Sequence
from typing import TypeAlias, cast

from aws_cdk import Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.private_topic import notification_topic, subscribe
from ultracluster._foundation.tokens import is_known
from ultracluster_spec.alarms import check_recipients
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import Finding

Recipient: TypeAlias = str | sns.ITopic
"""A mail address, an SNS topic, or its ARN, which can be a token."""


class Notifications(Construct):
    """A topic with its subscriptions, or an existing topic."""

    topic: sns.ITopic
    """Topic to notify."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        recipients: Sequence[Recipient],
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Subscribe addresses to the topic that is given, whose policy must let CloudWatch publish, or else to a new one."""
        super().__init__(scope, construct_id)
        emails = [each for each in recipients if isinstance(each, str) and not _is_topic(each)]
        given = next((each for each in recipients if each not in emails), None)
        if given is None:
            self.topic = notification_topic(self, emails=emails, kms_key=kms_key)
            return
        self.topic = sns.Topic.from_topic_arn(self, "Topic", given) if isinstance(given, str) else given
        subscribe(self, self.topic, emails)


def recipients_of(notify: Recipient | Sequence[Recipient]) -> list[Recipient]:
    """Return recipients as a list."""
    if isinstance(notify, list | tuple):
        return [*notify]
    return [cast("Recipient", notify)]


def check_notify(scope: Construct, recipients: Sequence[Recipient]) -> list[Finding]:
    """Check recipients, as far as a template knows them; `check_regions` knows the Region of topics of the CDK."""
    region = Stack.of(scope).region
    in_region = is_known(region) and all(isinstance(each, str) for each in recipients)
    names = [each if isinstance(each, str) else each.topic_arn for each in recipients]
    return check_recipients(
        [each if is_known(each) else None for each in names], region=region if in_region else None
    )


def _is_topic(recipient: str) -> bool:
    return recipient.startswith("arn:") or not is_known(recipient)
