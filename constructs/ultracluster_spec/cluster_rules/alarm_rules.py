"""Rules about the alarms and the budget of a cluster."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ultracluster_spec.alarms import (
    EMAIL,
    TOPIC_ARN,
    Alarms,
    Budget,
    check_budget,
    check_recipients,
    check_weekly_report,
    warn_of_missing_recipients,
)
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.credentials import shown
from ultracluster_spec.findings import Finding, Severity
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, duplicates
from ultracluster_spec.standing_order import check_standing_order


def recipients_are_emails_or_a_topic(cluster: Cluster) -> Iterator[At]:
    """Refuse email addresses together with an existing topic, which has its own subscribers."""
    alarms = cluster.alarms
    if alarms and alarms.emails and alarms.topic_arn:
        remedy = "Subscribe the addresses to the topic, or leave topic_arn out"
        yield At(("alarms", "emails"), "got addresses and a topic", remedy=remedy, code="UC6445")


def emails_are_unique(cluster: Cluster) -> Iterator[At]:
    """Refuse a duplicate address, whose second subscription SNS ignores."""
    for index, address in duplicates(cluster.alarms.emails if cluster.alarms else ()):
        yield At(("alarms", "emails", index), f"{shown(address)} is a duplicate", code=EMAIL.code)


def topic_is_in_the_region(cluster: Cluster) -> Iterator[At]:
    """Refuse a topic in another Region, to which CloudWatch does not publish."""
    alarms = cluster.alarms
    if alarms and alarms.topic_arn and alarms.topic_arn.split(":")[3] != cluster.region:
        problem = f"the topic is in {alarms.topic_arn.split(':')[3]}, the cluster in {cluster.region}"
        remedy = "Use a topic in the cluster's Region"
        yield At(("alarms", "topic_arn"), problem, remedy=remedy, code=TOPIC_ARN.code)


def alarms_have_recipients(cluster: Cluster) -> Iterator[At]:
    """Warn about alarms, or of a Capacity Block, without recipients."""
    alarms = cluster.effective_alarms
    if cluster.notify or (alarms and alarms.has_recipients):
        return
    if cluster.has_block:
        yield At.of(("notify",), warn_of_missing_recipients())
    elif alarms:
        yield from _topic_has_subscribers("alarms", alarms)


def report_is_of_a_block(cluster: Cluster) -> Iterator[At]:
    """Refuse a weekly report without a block, or without the metrics of one."""
    for finding in check_weekly_report(cluster.alarms, has_block=cluster.has_block):
        yield At.of(("alarms", finding.path), finding)


def cluster_notifies_addresses_or_a_topic(cluster: Cluster) -> Iterator[At]:
    """Check the recipients: distinct email addresses, or one topic in the Region."""
    for finding in check_recipients(cluster.notify, region=cluster.region):
        yield At.of(("notify", int(finding.path.removeprefix("notify[").removesuffix("]"))), finding)


def _topic_has_subscribers(name: str, settings: Alarms | Budget) -> Iterator[At]:
    """Warn about a new topic that notifies no one."""
    if not settings.emails and settings.topic_arn is None:
        yield At(
            (name,),
            f"the {name} {'get' if name == 'alarms' else 'gets'} a new topic without a subscriber",
            remedy="Set emails or topic_arn, or subscribe to the topic after deployment",
            code="UC2250",
        )


def budget_is_valid(cluster: Cluster) -> Iterator[At]:
    """Refuse amounts and thresholds that AWS Budgets does not accept."""
    budget = cluster.budget
    if budget is None:
        return
    for finding in check_budget(
        monthly_usd=budget.monthly_usd,
        actual_percents=budget.actual_percents,
        forecast_percents=budget.forecast_percents,
        close_at_percent=budget.close_queues_at_percent,
        emails=budget.emails,
    ):
        yield At.of(("budget", finding.path), finding)


def budget_has_recipients(cluster: Cluster) -> Iterator[At]:
    """Warn about a budget that notifies no one."""
    if cluster.budget:
        yield from _topic_has_subscribers("budget", cluster.budget)


def watched_capacity_can_match(cluster: Cluster) -> Iterator[At]:
    """Refuse a watch for capacity that nothing can meet, and warn about one that tells no one."""
    if cluster.capacity_watch is None:
        return
    order = cluster.capacity_watch
    order = order if order.regions else replace(order, regions=(cluster.region,))
    for finding in check_standing_order(order, cluster.node_type):
        yield At.of(("capacity_watch", finding.path), finding)
    if not cluster.notify:
        yield At.of(("capacity_watch",), warn_of_watch_without_recipients("notify"))


def warn_of_watch_without_recipients(setting: str) -> Finding:
    """Return the warning (UC2250) about a watch for capacity whose new topic tells no one."""
    problem = "the watch for capacity gets a new topic without a subscriber"
    return Finding("UC2250", problem, remedy=f"Set {setting}, or subscribe to the topic after deployment")


RULES: Final = (
    recipients_are_emails_or_a_topic,
    emails_are_unique,
    topic_is_in_the_region,
    alarms_have_recipients,
    report_is_of_a_block,
    cluster_notifies_addresses_or_a_topic,
    budget_is_valid,
    budget_has_recipients,
    watched_capacity_can_match,
)


RECORDS: Final = (
    RuleRecord(
        "UC2250",
        "Alarms and budgets have a recipient.",
        severity=Severity.WARNING,
        remedy="Set emails or topic_arn, or subscribe to the new topic after the deployment.",
        source="Our decision: without recipients, a firing alarm looks like a healthy cluster.",
        example="budget: {monthly_usd: 50000, emails: [ml@example.com]}",
    ),
    RuleRecord(
        "UC6445",
        "Alarms notify either the addresses or the topic that the file names.",
        remedy="Subscribe the addresses to the topic, or leave topic_arn out for a new topic with them.",
        source="Our decision: nothing of an existing topic is changed.",
        example='alarms: {topic_arn: "arn:aws:sns:us-east-2:123456789012:alarms"}',
    ),
)
