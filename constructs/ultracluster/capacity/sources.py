"""The sources of capacity of one cluster: what they are as a list, and how each names what is defined for it."""

from collections.abc import Iterable, Sequence

from aws_cdk import Token

from ultracluster.capacity.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup
from ultracluster_catalog.limits.queues import MOST_ENVIRONMENTS
from ultracluster_rules.capacity import check_source_names, check_targets
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["check_names", "check_own_queue", "named", "sources_of", "used_by_queue"]


def sources_of(capacity: Capacity | Sequence[Capacity] | None) -> tuple[Capacity | None, ...]:
    """Give the sources in order of preference; None is on-demand.

    Args:
        capacity: One source, several, or None.

    Raises:
        FindingsError: If there is none (UC4120), two have the same name (UC4121), or two are one reservation (UC4127).
    """
    if not isinstance(capacity, Sequence):
        return (capacity,)
    findings = []
    if not capacity:
        findings.append(
            Finding(code="UC4120", problem="got no source", allowed="at least 1", path="capacity")
        )
    findings += check_names([each.name for each in capacity], path="capacity")
    findings += [finding.at("capacity") for _, finding in check_targets(list(map(_reservation, capacity)))]
    if findings:
        raise FindingsError(findings)
    return tuple(capacity)


def used_by_queue(
    sources: Sequence[Capacity | None], wanted: Sequence[str | None] | None, *, path: str
) -> tuple[Capacity | None, ...]:
    """Give the sources that a queue uses, in its order of preference.

    Args:
        sources: The sources of the cluster.
        wanted: Names of those of the queue; None is the source without a name. None in all is all of them.
        path: Where they were given.

    Raises:
        FindingsError: If the cluster has no such source (UC6312), or there are not one to three (UC4120).
    """
    named_sources = {each.name if each else None: each for each in sources}
    names = list(named_sources if wanted is None else dict.fromkeys(wanted))
    findings = [
        Finding(code="UC6312", problem=f"got {quote(each)}", allowed=_listed(named_sources), path=path)
        for each in names
        if each not in named_sources
    ]
    if not 1 <= len(names) <= MOST_ENVIRONMENTS:
        findings.append(
            Finding(
                code="UC4120",
                problem=f"got {len(names)} sources for one queue",
                allowed=f"1 to {MOST_ENVIRONMENTS}",
                remedy="Name those that this queue uses, and give the others a queue of their own",
                path=path,
            )
        )
    if findings:
        raise FindingsError(findings)
    return tuple(named_sources[each] for each in names)


def check_own_queue(sources: Sequence[Capacity | None], wanted: Sequence[str | None] | None) -> None:
    """Refuse an own queue of a cluster that leaves out a Capacity Block: it is opened and closed with that queue.

    Args:
        sources: The sources of the cluster.
        wanted: Names of those of its own queue; None in all is all of them.

    Raises:
        FindingsError: If a block is left out (UC6314), or `used_by_queue` refuses the names.
    """
    used = used_by_queue(sources, wanted, path="queue_sources")
    findings = [
        Finding(
            code="UC6314",
            problem=f"the own queue of the cluster leaves out the Capacity Block {quote(each.reservation_id)}",
            remedy="Name it in queue_sources too: it is opened and closed with that queue",
            path="queue_sources",
        )
        for each in sources
        if isinstance(each, CapacityBlock) and each not in used
    ]
    if findings:
        raise FindingsError(findings)


def _listed(names: Iterable[str | None]) -> str:
    return ", ".join("None, the source without a name" if each is None else quote(each) for each in names)


def check_names(names: Sequence[str | None], *, path: str) -> list[Finding]:
    """Find sources that their names do not tell apart.

    Args:
        names: Their names; None is a source without one.
        path: Where they were given.
    """
    return [finding.at(path) for _, finding in check_source_names(names)]


def named(construct_id: str, source: Capacity | None) -> str:
    """Give the id of what is defined for a source, which its place in the order does not change.

    Args:
        construct_id: The id for the source without a name.
        source: The source; None is on-demand.
    """
    return f"{construct_id}-{source.name}" if source and source.name else construct_id


def _reservation(source: Capacity) -> str | None:
    match source:
        case CapacityBlock() | CapacityReservation():
            target = source.reservation_id
        case ReservationGroup():
            target = source.resource_group_arn
        case _:
            return None
    return None if Token.is_unresolved(target) else target
