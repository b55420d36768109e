"""Notifications of every API call that commits to pay for capacity."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from ultracluster_spec.arguments import validate_arguments

_SOURCES: Final = ["aws.ec2", "aws.sagemaker"]
# A prefix also matches purchase calls that AWS adds later. The other calls commit to pay under different names; SageMaker
# sells the same capacity as training plans.
_CALLS: Final = [
    {"prefix": "Purchase"},
    "CreateCapacityReservation",
    "CreateCapacityReservationFleet",
    "ModifyCapacityReservation",
    "ModifyCapacityReservationFleet",
    "CreateTrainingPlan",
    "ExtendTrainingPlan",
]
# CloudTrail records a dry run with this error, and it buys nothing. A successful purchase has no error code.
_NO_DRY_RUN: Final = [{"exists": False}, {"anything-but": ["Client.DryRunOperation"]}]


class CapacityGuard(Construct):
    """Notification of every capacity purchase in a Region and account, including those that AWS rejected.

    EventBridge receives API calls only where a trail logs management events, so the account needs a trail in this Region; one
    multi-Region trail is enough. A call is recorded in the Region where it is made, so create a guard in each Region
    where principals can buy, and deny purchases in all others. CloudTrail delivers within minutes on a best-effort
    basis: the guard reports purchases and does not prevent them.
    """

    rule: events.IRule
    """EventBridge rule that matches the calls."""
    topic: sns.ITopic
    """Topic of the notifications."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        emails: Sequence[str] = (),
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the guard.

        Args:
            emails: Addresses to notify; each must confirm its subscription. Default: none, so subscribe to the topic
                separately.
            kms_key: KMS key of the topic. Its policy must allow EventBridge to use it, without conditions on the
                source. Default: a new key, because EventBridge cannot use the AWS managed key for SNS.
        """
        super().__init__(scope, construct_id)
        self.topic = sns.Topic(
            self,
            "Topic",
            display_name="Capacity guard",
            master_key=kms_key or self._define_key(),
            enforce_ssl=True,
        )
        for email in emails:
            self.topic.add_subscription(subscriptions.EmailSubscription(email))
        self.rule = events.Rule(
            self,
            "Resource",
            description="Calls that commit to pay for capacity",
            event_pattern=events.EventPattern(
                source=_SOURCES,
                detail_type=["AWS API Call via CloudTrail"],
                detail={"eventName": _CALLS, "errorCode": _NO_DRY_RUN},
            ),
            targets=[targets.SnsTopic(self.topic, message=_message())],
        )
        self.node.default_child = self.rule.node.default_child

    def _define_key(self) -> kms.Key:
        key = kms.Key(self, "Key", description="Messages of the capacity guard", enable_key_rotation=True)
        # Without conditions: SNS does not support aws:SourceArn and aws:SourceAccount for EventBridge, and messages
        # would be lost without an error (SNS Developer Guide, "Key management", read 2026-11).
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("events.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                resources=["*"],
            )
        )
        return key


def _message() -> events.RuleTargetInput:
    def of(path: str) -> str:
        return events.EventField.from_path(f"$.{path}")

    return events.RuleTargetInput.from_multiline_text(
        f"{of('detail.eventName')} was called in account {of('account')}, Region {of('region')}, at {of('time')}.\n"
        f"By: {of('detail.userIdentity.arn')}, from {of('detail.sourceIPAddress')}.\n"
        f"Refused with (nothing here means that it was executed): {of('detail.errorCode')}\n"
        f"Look up event {of('detail.eventID')} in CloudTrail, and compare with `ultracluster capacity status`."
    )
