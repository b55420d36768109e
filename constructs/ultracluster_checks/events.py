"""Events of EC2 about Capacity Blocks: rules that get them, about the block of the nodes."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_DELIVERED_EVENTS,
    BLOCK_EXPIRATION_WARNING_EVENTS,
    INSTANCE_INTERRUPTION_WARNING_EVENT,
)
from ultracluster_checks.codes import EVENTS, IN_TIME
from ultracluster_checks.model.nodes import EVENT_RULE, differ, has_all_environments, nodes_of
from ultracluster_checks.model.template import Resource, Templates
from ultracluster_checks.model.values import Reference
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_spec.findings import quote

# Amazon EC2 user guide, monitor Capacity Blocks using EventBridge (2026-11)
_BLOCK_EVENTS: Final = {*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS}
_SENT: Final = {*_BLOCK_EVENTS, INSTANCE_INTERRUPTION_WARNING_EVENT}
_KEYS: Final = {"capacity-reservation-id", "end-date"}


def event_types(source: Resource) -> set[str]:
    """Return the types of events that a rule waits for, as far as they are known."""
    return {kind for kind in source["EventPattern"]["detail-type"].texts if kind is not None}


def is_about_blocks(source: Resource, *, word: str = "") -> bool:
    """Return whether a rule waits for events about Capacity Blocks, with a word in their name if one is given."""
    kinds = event_types(source)
    named = any("Capacity Block" in kind and word in kind for kind in kinds)
    return named or INSTANCE_INTERRUPTION_WARNING_EVENT in kinds


@rule(EVENTS, EVENT_RULE)
def events_of_blocks_are_sent(source: Resource) -> Iterator[Wrong]:
    """Find rules for events about Capacity Blocks that EC2 does not send: of another name, source, key or resource."""
    pattern = source["EventPattern"]
    kinds, senders, detail = pattern["detail-type"], pattern["source"].texts, pattern["detail"]
    if not is_about_blocks(source):
        return
    for kind in kinds.items:
        if "Capacity Block" in (kind.text or "") and kind.text not in _SENT:
            yield kind, f"got {quote(kind.text)}, which EC2 does not send", ", ".join(sorted(_BLOCK_EVENTS))
    if senders and None not in senders and "aws.ec2" not in senders:
        got = f"got {', '.join(map(str, senders))}, and events about blocks are of aws.ec2"
        yield pattern["source"], got, "aws.ec2"
    for key in detail.members if event_types(source) <= _BLOCK_EVENTS else ():
        if str(key.path[-1]) not in _KEYS and not str(key.path[-1]).startswith("$"):
            got = f"the events have no {quote(str(key.path[-1]))}, so that none of them matches"
            yield key, got, ", ".join(sorted(_KEYS))
    for at in (part for each in pattern["resources"].items for part in (each, *each.members)):
        other = re.search(r":(?!capacity-reservation/)([a-z-]+)/", at.pattern)
        if other:
            yield at, f"got {at.pattern}, a resource of kind {other[1]}", "the ARN of the reservation"


@rule(IN_TIME, EVENT_RULE)
def events_of_blocks_reach_their_bus(source: Resource) -> Iterator[Wrong]:
    """Find rules for events about Capacity Blocks on another bus or of another Region."""
    bus, regions = source["EventBusName"], source["EventPattern"]["region"]
    custom = bus.target is not None or bus.text not in {None, "default"}
    if custom and is_about_blocks(source):
        got = f"got {bus.pattern}; events of AWS services are on the default bus only"
        yield bus, got, "default"
    elsewhere = source.region and regions.items and not {source.region, None} & {*regions.texts}
    if elsewhere and is_about_blocks(source):
        got = f"got {regions.texts[0]}, and the stack is in {source.region}"
        yield Problem.of(regions, EVENTS, got, str(source.region))


@rule(EVENTS)
def warnings_of_blocks_arrive(templates: Templates) -> Iterator[Wrong]:
    """Find rules about Capacity Blocks that match no warning, or none about the block of the nodes."""
    about = [each for each in templates.of_type(EVENT_RULE) if is_about_blocks(each)]
    warnings = {*BLOCK_EXPIRATION_WARNING_EVENTS}
    for source in about:
        pattern, kinds = source["EventPattern"], source["EventPattern"]["detail-type"]
        warned = event_types(source) & {*warnings, INSTANCE_INTERRUPTION_WARNING_EVENT}
        unknown = any("Capacity Block" in (kind or "") and kind not in _SENT for kind in kinds.texts)
        elsewhere = any(event_types(each) & warnings for each in about if each is not source)
        if warned == {BLOCK_EXPIRATION_WARNING_EVENTS[1]}:
            got = f"only {quote(BLOCK_EXPIRATION_WARNING_EVENTS[1])}, an older name of the event"
            yield kinds, got, " and ".join(BLOCK_EXPIRATION_WARNING_EVENTS)
        if not warned and not unknown and not elsewhere and None not in kinds.texts:
            got = "the warning before the end is not among the events"
            yield kinds, got, " and ".join(BLOCK_EXPIRATION_WARNING_EVENTS)
        nodes = [each for each in nodes_of(templates) if each.may_be_in_block]
        blocks = [each.target["CapacityReservationId"].value for each in nodes]
        named, accounts = pattern["detail"]["capacity-reservation-id"], pattern["account"]
        known = named.items and all(isinstance(each.value, str | Reference) for each in named.items)
        if (
            known
            and blocks
            and has_all_environments(templates)
            and all(differ(block, each.value) for each in named.items for block in blocks)
        ):
            got = f"got {named.items[0].pattern}, and nodes are launched into {blocks[0]}"
            yield named, got, str(blocks[0])
        if accounts.items and all(accounts.texts):
            yield accounts, f"events of {accounts.texts[0]} only", "no account"
