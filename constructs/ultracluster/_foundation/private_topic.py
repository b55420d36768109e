"""What holds for every topic of a cluster: over TLS only, and who publishes to it is written down."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.l2_on_request import l2_in_place_of
from ultracluster._foundation.statement import policy_document

__all__ = ["PrivateTopic", "l2_topic", "let_publish"]


class PrivateTopic:
    """A topic, of L1 constructs until somebody asks for the L2 one."""

    _l2: sns.Topic | None = None

    def __init__(self, scope: Construct, construct_id: str, *, kms_key: kms.IKey | None = None) -> None:
        """Define the topic.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            kms_key: Key that encrypts it. Default: none.
        """
        self._scope = scope
        self._construct_id = construct_id
        self._kms_key = kms_key
        place = Construct(scope, construct_id)
        self._resource = sns.CfnTopic(
            place, "Resource", kms_master_key_id=kms_key.key_arn if kms_key else None
        )
        self._topic_arn = self._resource.ref
        self._publishers: list[Mapping[str, Any]] = []
        self._policy = sns.CfnTopicPolicy(
            Construct(place, "Policy"),
            "Resource",
            topics=[self._topic_arn],
            policy_document=self._document(),
        )

    def _document(self) -> dict[str, Any]:
        over_tls = {
            "Sid": "AllowPublishThroughSSLOnly",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "sns:Publish",
            "Resource": self._topic_arn,
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
        return policy_document([over_tls, *self._publishers])

    def allow(self, statement: Mapping[str, Any]) -> None:
        """Add a statement to the topic's policy.

        Args:
            statement: The statement, as IAM writes it.
        """
        self._publishers.append(statement)
        if self._l2 is None:
            self._policy.policy_document = self._document()
        else:
            self._l2.add_to_resource_policy(iam.PolicyStatement.from_json(statement))

    @property
    def topic(self) -> sns.Topic:
        """The topic, for what only an L2 construct can do."""
        if self._l2 is None:
            self._l2 = l2_in_place_of(
                self._resource, scope=self._scope, construct_id=self._construct_id, make=self._define_l2
            )
        return self._l2

    def _define_l2(self) -> sns.Topic:
        topic = sns.Topic(self._scope, self._construct_id, enforce_ssl=True, master_key=self._kms_key)
        for statement in self._publishers:
            topic.add_to_resource_policy(iam.PolicyStatement.from_json(statement))
        return topic

    @property
    def topic_arn(self) -> str:
        """ARN of the topic."""
        return self._topic_arn


def let_publish(
    topic: sns.ITopic | PrivateTopic,
    *,
    sid: str,
    service: str,
    source: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Let a service of AWS publish to a topic of this app, on behalf of this account only.

    The policy that requires TLS has taken the place of the one that lets the account's services publish. The policy of a
    topic from elsewhere has to let the service publish already.

    Args:
        topic: The topic.
        sid: What to call the statement.
        service: The service, such as ``cloudwatch.amazonaws.com``.
        source: Conditions on what it publishes for. Default: anything of the account.
    """
    if not isinstance(topic, (sns.Topic, PrivateTopic)):
        return
    statement = {
        "Sid": sid,
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sns:Publish",
        "Resource": topic.topic_arn,
        "Condition": {**(source or {}), "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
    }
    if isinstance(topic, PrivateTopic):
        topic.allow(statement)
    else:
        topic.add_to_resource_policy(iam.PolicyStatement.from_json(statement))


def l2_topic(topic: sns.ITopic | PrivateTopic) -> sns.ITopic:
    """Give a topic, ours or another, as an L2 construct.

    Args:
        topic: The topic.
    """
    return topic.topic if isinstance(topic, PrivateTopic) else topic
