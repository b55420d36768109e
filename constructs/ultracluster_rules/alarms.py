"""Rules for the alarms of a cluster."""

from collections.abc import Sequence
from typing import Final

from ultracluster_catalog.names.identifiers import SNS_TOPIC_ARN
from ultracluster_rules.findings import Finding, quote
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
