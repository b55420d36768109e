"""Notifications of a cluster and their recipients."""

from collections.abc import Sequence

from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.private_topic import notification_topic
from ultracluster_rules.numbers import rejects_unsafe_numbers


class Notifications(Construct):
    """A topic with its subscriptions, or an existing topic."""

    @rejects_unsafe_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        recipients: Sequence[str],
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define or import the topic.

        Args:
            scope: Parent construct.
            construct_id: Construct ID.
            recipients: Addresses to subscribe to a new topic, each of which must confirm; or the ARN of a topic, whose policy
                must allow CloudWatch to publish.
            kms_key: KMS key for a new topic; its policy must allow CloudWatch to use it. Default: none.
        """
        super().__init__(scope, construct_id)
        self._topic = (
            sns.Topic.from_topic_arn(self, "Topic", recipients[0])
            if recipients[0].startswith("arn:")
            else notification_topic(self, emails=recipients, kms_key=kms_key)
        )

    @property
    def topic(self) -> sns.ITopic:
        """Topic to notify."""
        return self._topic
