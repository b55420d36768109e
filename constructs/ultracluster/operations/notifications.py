"""Notifications of a cluster and their recipients."""

from collections.abc import Sequence

from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.private_topic import notification_topic
from ultracluster_spec.arguments import validate_arguments


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
        recipients: Sequence[str],
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define a topic with addresses, or import the one whose ARN is given; its policy must let CloudWatch publish."""
        super().__init__(scope, construct_id)
        self.topic = (
            sns.Topic.from_topic_arn(self, "Topic", recipients[0])
            if recipients[0].startswith("arn:")
            else notification_topic(self, emails=recipients, kms_key=kms_key)
        )
