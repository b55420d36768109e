"""`notify`, `alarms` and `budget` of a cluster: recipients and thresholds, and the rules about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from ultracluster_catalog.limits.budgets import (
    MOST_BUDGET_EMAILS,
    MOST_BUDGET_NOTIFICATIONS,
    MOST_BUDGET_PERCENT,
)
from ultracluster_catalog.names.identifiers import SNS_TOPIC_ARN
from ultracluster_spec.bounds import Between, Form
from ultracluster_spec.findings import Finding, Severity, quote, require
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.values import Value

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


def check_recipients(recipients: Sequence[str | None], *, region: str | None) -> list[Finding]:
    """Check the recipients of a cluster: distinct email addresses, and at most one topic, in its Region (UC6449).

    None is the ARN of a topic that is not known yet.
    """
    findings: list[Finding] = []
    topics = 0
    for index, recipient in enumerate(recipients):
        path = f"notify[{index}]"
        malformed = RECIPIENT.check(recipient, path=path) if recipient is not None else []
        findings += malformed
        if malformed:
            continue
        is_topic = recipient is None or recipient.startswith("arn:")
        topics += is_topic
        if recipient is not None and recipient in recipients[:index]:
            findings.append(Finding(RECIPIENT.code, f"{quote(recipient)} is a duplicate", path=path))
        elif is_topic and topics > 1:
            remedy = "Notify one of them, and subscribe the recipients of the other to it"
            findings.append(Finding(RECIPIENT.code, "got a second topic", remedy=remedy, path=path))
        elif recipient and is_topic and region is not None and recipient.split(":")[3] != region:
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


MONTHLY_USD: Final = Between(code="UC6360", least=1, most=10_000_000_000)
"""Monthly limit in whole US dollars."""

PERCENT: Final = Between(code="UC6361", least=1, most=MOST_BUDGET_PERCENT)
"""Threshold in whole percent of the limit."""

BUDGET_TOPIC_ARN: Final = Form(
    code="UC6362",
    pattern=SNS_TOPIC_ARN,
    allowed="the ARN of an SNS topic, such as arn:aws:sns:us-east-2:123456789012:costs",
)
"""Topic of the notifications."""


def check_budget(
    *,
    monthly_usd: float,
    actual_percents: Sequence[float],
    forecast_percents: Sequence[float],
    close_at_percent: float | None,
    emails: Sequence[str],
) -> list[Finding]:
    """Check a budget: its limit (UC6360), thresholds in percent of it (UC6361) and recipients (UC6362)."""
    findings = []
    findings += require(
        0 < monthly_usd < float("inf"),
        MONTHLY_USD.code,
        f"got {quote(monthly_usd)}",
        allowed="more than 0 US dollars",
        path="monthly_usd",
    )
    closing = [] if close_at_percent is None else [close_at_percent]
    for path, percents in (
        ("actual_percents", actual_percents),
        ("forecast_percents", forecast_percents),
        ("close_at_percent", closing),
    ):
        outside = [percent for percent in percents if not 0 < percent <= MOST_BUDGET_PERCENT]
        if outside or len(set(percents)) < len(percents):
            allowed = f"each once, above 0 and up to {MOST_BUDGET_PERCENT:,} percent"
            findings.append(Finding(PERCENT.code, f"got {quote(list(percents))}", allowed=allowed, path=path))
    count = len({*actual_percents, *closing}) + len(set(forecast_percents))
    findings += require(
        1 <= count <= MOST_BUDGET_NOTIFICATIONS,
        PERCENT.code,
        f"got {count} thresholds",
        allowed=f"1 to {MOST_BUDGET_NOTIFICATIONS}",
        path="actual_percents",
    )
    invalid = [email for email in emails if not _is_address(email)]
    findings += require(
        not invalid and len(emails) <= MOST_BUDGET_EMAILS,
        BUDGET_TOPIC_ARN.code,
        f"got {quote(invalid[0])}" if invalid else f"got {len(emails)} addresses",
        allowed=f"up to {MOST_BUDGET_EMAILS} email addresses, such as jane@example.com",
        path="emails",
    )
    return findings


def _is_address(text: str) -> bool:
    name, at, domain = text.rpartition("@")
    return bool(name and at and "." in domain and text.isprintable() and " " not in text)


_Percent = Annotated[int, PERCENT]


@dataclass(frozen=True, kw_only=True, slots=True)
class Alarms(Value):
    """Alarms with remedies, with the metrics of all nodes, a function that watches the cluster, and a dashboard."""

    enabled: bool = True
    """Whether there are alarms. Default: yes; without this section, for Capacity Blocks."""

    emails: tuple[Annotated[str, EMAIL], ...] = ()
    """Email addresses to subscribe to a new SNS topic; each must confirm. Default: `notify` of the cluster."""

    topic_arn: Annotated[str, TOPIC_ARN] | None = None
    """ARN of an existing SNS topic, whose policy lets CloudWatch publish. Default: `notify` of the cluster."""

    dashboard: bool = True
    """Whether to create a CloudWatch dashboard of the cluster; in your own app, add a `ClusterDashboard`. Default: yes."""

    idle_percent: Annotated[int, Between("UC6440", 0, 100)] = 5
    """NeuronCore utilization below which a node counts as idle, in percent. Default: 5."""

    idle_minutes: Annotated[int, Between("UC6440", 1, 60)] = 15
    """Minutes that nodes may be idle or missing in paid capacity. Default: 15."""

    drain_minutes: Annotated[int, Between("UC6440", 1, 10_080)] = 120
    """Minutes before the drain of a Capacity Block at which to notify. Default: 120."""

    wait_minutes: Annotated[int, Between("UC6440", 1, 1_440)] = 60
    """Minutes that a job that could run may wait. Default: 60."""

    collective_percent: Annotated[int, Between("UC6440", 1, 100)] = 25
    """Share of a training step spent in collectives, in percent. Default: 25."""

    stalled_steps: Annotated[int, Between("UC6440", 2, 1_000)] = 10
    """Time without a training step, as a multiple of the median step; at least five minutes. Default: 10."""

    free_percent: Annotated[int, Between("UC6440", 1, 90)] = 10
    """Free space of the file system, in percent. Default: 10."""

    cache_misses: Annotated[int, Between("UC6440", 1, 100_000)] = 10
    """Graphs compiled within 15 minutes while nodes run. Default: 10."""

    weekly_report: bool = False
    """Whether a function sends the report of the Capacity Block that runs to the recipients every week, at its list price.
    Default: no."""

    @property
    def has_recipients(self) -> bool:
        """Whether alarms notify recipients of their own."""
        return bool(self.emails or self.topic_arn)


def effective_alarms(given: Alarms | None, *, has_block: bool) -> Alarms | None:
    """Return the alarms that a cluster has: as written, otherwise the default ones for Capacity Blocks."""
    if given is None:
        return Alarms(dashboard=False) if has_block else None
    return given if given.enabled else None


def check_weekly_report(given: Alarms | None, *, has_block: bool) -> list[Finding]:
    """Check that there is a Capacity Block to report on, and metrics of it (UC2264)."""
    if given is None or not given.weekly_report:
        return []
    problem = (
        "the cluster has no Capacity Block" if given.enabled else "without alarms, the cluster has no metrics"
    )
    remedy = (
        "Remove it; `ultracluster cost report` reports on other capacity"
        if given.enabled
        else "Remove enabled"
    )
    path = "weekly_report"
    return require(given.enabled and has_block, "UC2264", problem, remedy=remedy, path=path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget(Value):
    """A monthly budget of AWS Budgets for everything with the cluster's tag in its Region."""

    monthly_usd: Annotated[int, MONTHLY_USD]
    """Monthly limit in US dollars. A Capacity Block is billed in the month of its purchase."""

    emails: tuple[str, ...] = ()
    """Email addresses to notify, up to 10. Default: none."""

    topic_arn: Annotated[str, BUDGET_TOPIC_ARN] | None = None
    """ARN of an SNS topic to notify; its policy must let budgets.amazonaws.com publish. Default: a new topic without
    subscribers."""

    actual_percents: tuple[_Percent, ...] = (50, 80, 100)
    """Actual cost at which to notify, in percent of the limit. Default: 50, 80 and 100."""

    forecast_percents: tuple[_Percent, ...] = (100,)
    """Forecast cost of the month at which to notify, in percent of the limit. Default: 100."""

    close_queues_at_percent: _Percent | None = None
    """Actual cost at which the queues of the cluster stop accepting jobs, in percent of the limit. Running jobs continue;
    the queues must be reopened manually. Default: never, because a Capacity Block is paid for whether its queue is open
    or not."""


RECORDS: Final = (
    RuleRecord(
        "UC2264",
        "A weekly report is of a Capacity Block whose nodes have metrics.",
        remedy="Leave weekly_report out, or use it for a Capacity Block with alarms.",
        source="Our decision: a report needs a start, an end and a price, and alarms bring the metrics.",
    ),
    RuleRecord(
        "UC6360",
        "The limit of a budget is above zero.",
        remedy="Specify the monthly budget of the cluster in US dollars; `ultracluster cost` estimates it.",
        source="botocore 1.44.5, Budgets Spend, 2026.",
        example="budget: {monthly_usd: 50000, emails: [ml@example.com]}",
    ),
    RuleRecord(
        "UC6361",
        "A budget has 1 to 10 thresholds, each once, in percent above zero.",
        remedy="Specify 1 to 10 different thresholds in percent above zero.",
        source="AWS Budgets quotas: 10 notifications for a budget.",
        example="budget: {monthly_usd: 50000, actual_percents: [50, 90], emails: [ml@example.com]}",
    ),
    RuleRecord(
        "UC6362",
        "A budget notifies up to 10 email addresses.",
        remedy="Specify up to 10 email addresses; subscribe others to the topic.",
        source="AWS Budgets quotas: 10 addresses for a notification.",
        example="budget: {monthly_usd: 50000, emails: [jane@example.com]}",
    ),
    RuleRecord(
        "UC6440",
        "The threshold of an alarm is a whole number in its bounds.",
        remedy="Specify a whole number within the bounds of the finding; omit it for the default.",
        source="Our decision: outside the bounds an alarm would never go off, or always. An alarm looks back one day (CloudWatch user guide, 2026-10).",
        example="alarms: {idle_minutes: 60, emails: [ml@example.com]}",
    ),
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
        "A cluster notifies email addresses, each listed once, and at most one SNS topic, which is in its Region.",
        remedy="Specify email addresses, or the ARN of one topic, or both: the addresses are then subscribed to it.",
        source="Amazon SNS developer guide, e-mail notifications; CloudWatch user guide, alarm actions.",
        example='notify: ["arn:aws:sns:us-east-2:123456789012:alarms"]',
    ),
)
