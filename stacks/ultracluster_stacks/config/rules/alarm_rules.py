"""Rules about the alarms of a cluster."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from ultracluster_stacks.config.reading.problem import Problem, shown

if TYPE_CHECKING:
    from ultracluster_stacks.config.models.cluster import ClusterConfig

__all__ = ["RULES"]


def people_are_told_in_one_way(cluster: "ClusterConfig") -> Iterator[Problem]:
    """An own topic has its own subscribers; addresses are of a new one."""
    alarms = cluster.alarms
    if alarms and alarms.emails and alarms.topic_arn:
        yield Problem(
            loc=("alarms", "emails"),
            code="UC6445",
            problem="got addresses and a topic",
            remedy="Subscribe the addresses to the topic, or leave topic_arn out",
        )


def addresses_are_given_once(cluster: "ClusterConfig") -> Iterator[Problem]:
    """A second subscription of an address is none."""
    emails = cluster.alarms.emails if cluster.alarms else ()
    for index, address in enumerate(emails):
        if address in emails[:index]:
            yield Problem(
                loc=("alarms", "emails", index), code="UC6446", problem=f"{shown(address)} is there twice"
            )


def topic_is_in_the_region(cluster: "ClusterConfig") -> Iterator[Problem]:
    """CloudWatch tells topics of its own Region only."""
    alarms = cluster.alarms
    if alarms and alarms.topic_arn and alarms.topic_arn.split(":")[3] != cluster.region:
        yield Problem(
            loc=("alarms", "topic_arn"),
            code="UC6447",
            problem=f"the topic is in {alarms.topic_arn.split(':')[3]}, the cluster in {cluster.region}",
            remedy="Give a topic of the cluster's Region",
        )


def somebody_is_told(cluster: "ClusterConfig") -> Iterator[Problem]:
    """A new topic has the subscribers that the file names."""
    alarms = cluster.alarms
    if alarms and not alarms.emails and alarms.topic_arn is None:
        yield Problem(
            loc=("alarms",),
            code="UC2250",
            problem="the alarms get a new topic without a subscriber",
            remedy="Give emails or topic_arn, or subscribe somebody to the topic",
        )


RULES: Final[tuple[Callable[["ClusterConfig"], Iterator[Problem]], ...]] = (
    people_are_told_in_one_way,
    addresses_are_given_once,
    topic_is_in_the_region,
    somebody_is_told,
)
"""Rules over the alarms."""
