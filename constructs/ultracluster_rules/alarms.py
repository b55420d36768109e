"""Rules for the alarms of a cluster."""

from collections.abc import Sequence
from typing import Final

from ultracluster_catalog.names.identifiers import SNS_TOPIC_ARN
from ultracluster_rules.findings import Finding, Severity, quote
from ultracluster_rules.record import RuleRecord
from ultracluster_rules.values import Form

_EMAIL: Final = r"[^@\s]+@[^@\s]+\.[^@\s]+"

EMAIL: Final = Form(code="UC6446", pattern=_EMAIL, allowed="an email address, such as ml@example.com")
"""Mail address that alarms notify."""

TOPIC_ARN: Final = Form(
    code="UC6447",
    pattern=SNS_TOPIC_ARN,
    allowed="the ARN of an SNS topic, such as arn:aws:sns:us-east-2:123456789012:alarms",
)
"""Topic that alarms notify."""

RECIPIENT: Final = Form(
    code="UC6449",
    pattern=f"(?:{_EMAIL})|(?:{SNS_TOPIC_ARN})",
    allowed="an email address such as ml@example.com, or the ARN of an SNS topic",
)
"""Recipients of the notifications of a cluster."""


def check_recipients(recipients: Sequence[str], *, region: str | None) -> list[Finding]:
    """Check the recipients of a cluster: distinct email addresses, or one topic of its Region (UC6449)."""
    findings: list[Finding] = []
    for index, recipient in enumerate(recipients):
        path = f"notify[{index}]"
        malformed = RECIPIENT.check(recipient, path=path)
        findings += malformed
        if malformed:
            continue
        is_topic = recipient.startswith("arn:")
        if recipient in recipients[:index]:
            findings.append(Finding(RECIPIENT.code, f"{quote(recipient)} is a duplicate", path=path))
        elif is_topic and len(recipients) > 1:
            problem = "got a topic and other recipients"
            remedy = "Subscribe the addresses to the topic"
            findings.append(Finding(RECIPIENT.code, problem, remedy=remedy, path=path))
        elif is_topic and region is not None and recipient.split(":")[3] != region:
            problem = f"the topic is in {recipient.split(':')[3]}, the cluster in {region}"
            remedy = "CloudWatch publishes to topics of its own Region only"
            findings.append(Finding(RECIPIENT.code, problem, remedy=remedy, path=path))
    return findings


def warn_of_missing_recipients() -> Finding:
    """Return the warning (UC6448) about a Capacity Block without recipients of notifications."""
    return Finding(
        "UC6448",
        "no one is notified when a node refuses to join, a job is lost or the paid Capacity Block ends",
        remedy="Set notify to email addresses or an SNS topic",
        path="notify",
    )


RECORDS: Final = (
    RuleRecord(
        "UC6446",
        "A recipient of alarms is an email address, and is listed once.",
        remedy="Specify each email address once; Amazon SNS asks each of them to confirm.",
        source="Amazon SNS developer guide, e-mail notifications.",
        example="alarms: {emails: [ml@example.com]}",
    ),
    RuleRecord(
        "UC6447",
        "The topic that alarms notify is in the Region of the cluster.",
        remedy="Specify the ARN of a topic in the Region of the cluster.",
        source="CloudWatch user guide, alarm actions: the topic is in the Region of the alarm.",
        example='alarms: {topic_arn: "arn:aws:sns:us-east-2:123456789012:alarms"}',
    ),
    RuleRecord(
        "UC6448",
        "A cluster with a Capacity Block has recipients of notifications.",
        severity=Severity.WARNING,
        remedy="Set notify to email addresses, each of which must confirm, or to one SNS topic.",
        source="Our decision: a block costs thousands of dollars a day, and most of what goes wrong in it is silent.",
        example="notify: [ml@example.com]",
    ),
    RuleRecord(
        "UC6449",
        "A cluster notifies email addresses, each listed once, or one SNS topic in its Region.",
        remedy="Specify email addresses, or the ARN of one topic to which they are subscribed.",
        source="Amazon SNS developer guide, e-mail notifications; CloudWatch user guide, alarm actions.",
        example='notify: ["arn:aws:sns:us-east-2:123456789012:alarms"]',
    ),
)
