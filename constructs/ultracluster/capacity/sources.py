"""The capacity sources of one cluster, as a list, and construct IDs derived from them."""

from collections.abc import Iterable, Sequence

from aws_cdk import Token

from ultracluster.capacity.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup
from ultracluster_catalog.limits.queues import MOST_ENVIRONMENTS
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["check_main_queue", "check_names", "named", "sources_of", "used_by_queue"]


def sources_of(capacity: Capacity | Sequence[Capacity] | None) -> tuple[Capacity | None, ...]:
    """Return the sources in order of preference; None is On-Demand.

    Args:
        capacity: One source, several, or None.

    Raises:
        FindingsError: If there is none (UC4120), two share a name (UC4121), or two are the same reservation (UC4127).
    """
    if not isinstance(capacity, Sequence):
        return (capacity,)
    findings = []
    if not capacity:
        findings.append(
            Finding(code="UC4120", problem="got no source", allowed="at least 1", path="capacity")
        )
    findings += check_names([each.name for each in capacity], path="capacity")
    ids = [target for each in capacity if (target := _reservation(each))]
    findings += [
        Finding(
            code="UC4127",
            problem=f"{quote(target)} is given for {ids.count(target)} sources",
            remedy="Give it once: each source launches its most nodes into it",
            path="capacity",
        )
        for target in dict.fromkeys(ids)
        if ids.count(target) > 1
    ]
    if findings:
        raise FindingsError(findings)
    return tuple(capacity)


def used_by_queue(
    sources: Sequence[Capacity | None], wanted: Sequence[str | None] | None, *, path: str
) -> tuple[Capacity | None, ...]:
    """Return the sources that a queue uses, in its order of preference.

    Args:
        sources: Sources of the cluster.
        wanted: Names of the sources to use; None among them is the source without a name. None selects all sources.
        path: Path of the argument, for findings.

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


def check_main_queue(sources: Sequence[Capacity | None], wanted: Sequence[str | None] | None) -> None:
    """Raise if the main queue of a cluster leaves out a Capacity Block, whose life cycle opens and closes that queue.

    Args:
        sources: Sources of the cluster.
        wanted: Names of the sources of its main queue; None selects all sources.

    Raises:
        FindingsError: If a block is left out (UC6314), or `used_by_queue` rejects the names.
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
    """Check that the names of sources are distinct.

    Args:
        names: Names; None is a source without one.
        path: Path of the argument, for findings.
    """
    return [
        Finding(
            code="UC4121",
            problem=f"two sources are called {quote(name)}" if name else "two sources have no name",
            remedy="Give each source a name of its own; the one that was there first can stay without",
            path=path,
        )
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]


def named(construct_id: str, source: Capacity | None) -> str:
    """Return a construct ID for a source that does not depend on its position.

    Args:
        construct_id: ID for the source without a name.
        source: Capacity source; None is On-Demand.
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
