"""An alarm on every call that commits to pay for capacity, whoever made it."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

__all__ = ["CapacityGuard"]

_SOURCES: Final = ["aws.ec2", "aws.sagemaker"]
# By prefix, so that a purchase call which AWS adds later is seen as well. The others commit to pay without being
# called so; SageMaker sells the same capacity as training plans.
_CALLS: Final = [
    {"prefix": "Purchase"},
    "CreateCapacityReservation",
    "CreateCapacityReservationFleet",
    "ModifyCapacityReservation",
    "ModifyCapacityReservationFleet",
    "CreateTrainingPlan",
    "ExtendTrainingPlan",
]
# A dry run is recorded with this error and buys nothing. One that was answered like a real request has no error.
_NO_DRY_RUN: Final = [{"exists": False}, {"anything-but": ["Client.DryRunOperation"]}]


class CapacityGuard(Construct):
    """Sends a message for every purchase of capacity in its Region and account, also for those that AWS refused.

    It sees what CloudTrail records: EventBridge receives API calls only where a trail logs management events, so the
    account needs a trail in this Region (one trail for all Regions is enough). It is one guard for one Region, since
    a call is recorded in the Region where it is made; put one into each Region where somebody could buy, and deny
    purchases in all others. CloudTrail delivers within minutes and on best effort: this tells of a purchase, it does
    not prevent one.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        emails: Sequence[str] = (),
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Define the guard.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            emails: Addresses that get every message; each has to confirm a mail from AWS first. Default: none, so
                somebody has to subscribe to the topic.
            encryption_key: Key that encrypts the topic. EventBridge must be allowed to use it, without conditions
                on the source. Default: a key of its own, since EventBridge cannot use the key that AWS manages for
                SNS.
        """
        super().__init__(scope, construct_id)
        self._topic = sns.Topic(
            self,
            "Topic",
            display_name="Capacity guard",
            master_key=encryption_key or self._define_key(),
            enforce_ssl=True,
        )
        for email in emails:
            self._topic.add_subscription(subscriptions.EmailSubscription(email))
        self._rule = events.Rule(
            self,
            "Resource",
            description="Calls that commit to pay for capacity",
            event_pattern=events.EventPattern(
                source=_SOURCES,
                detail_type=["AWS API Call via CloudTrail"],
                detail={"eventName": _CALLS, "errorCode": _NO_DRY_RUN},
            ),
            targets=[targets.SnsTopic(self._topic, message=_message())],
        )

    def _define_key(self) -> kms.Key:
        key = kms.Key(self, "Key", description="Messages of the capacity guard", enable_key_rotation=True)
        # Without conditions: SNS does not support aws:SourceArn and aws:SourceAccount for EventBridge, and messages
        # would be lost without an error (SNS developer guide, "Key management", read 2026-11).
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("events.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                resources=["*"],
            )
        )
        return key

    @property
    def rule(self) -> events.IRule:
        """The rule that recognizes the calls."""
        return self._rule

    @property
    def topic(self) -> sns.ITopic:
        """The topic of the messages."""
        return self._topic


def _message() -> events.RuleTargetInput:
    def of(path: str) -> str:
        return events.EventField.from_path(f"$.{path}")

    return events.RuleTargetInput.from_multiline_text(
        f"{of('detail.eventName')} was called in account {of('account')}, Region {of('region')}, at {of('time')}.\n"
        f"By: {of('detail.userIdentity.arn')}, from {of('detail.sourceIPAddress')}.\n"
        f"Refused with (nothing here means that it was executed): {of('detail.errorCode')}\n"
        f"Look up event {of('detail.eventID')} in CloudTrail, and compare with `ultracluster capacity status`."
    )
