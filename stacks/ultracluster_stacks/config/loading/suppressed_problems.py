"""Separate suppressed warnings from the problems of a rollout."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ultracluster_rules.findings import Severity
from ultracluster_stacks.config.models.rollout import RolloutConfig
from ultracluster_stacks.config.reading.defaults import origin
from ultracluster_stacks.config.reading.problem import Loc, Problem

_CLUSTER_DEPTH: Final = 4  # path of a cluster: waves, index, clusters, index


def reasons_of(rollout: RolloutConfig) -> dict[Loc, Mapping[str, str]]:
    """Return the reason of each suppressed code, by the location of the cluster."""
    return {loc: getattr(cluster, "suppress", {}) for loc, cluster in rollout.located_clusters()}


def without_suppressed(
    problems: Sequence[Problem], values: Mapping[str, Any], reasons: Mapping[Loc, Mapping[str, str]]
) -> tuple[list[Problem], list[tuple[Problem, str]]]:
    """Return the remaining problems, and the suppressed ones with their reasons."""
    default_reasons = _suppressions(values.get("defaults"))
    kept: list[Problem] = []
    suppressed: list[tuple[Problem, str]] = []
    for problem in problems:
        place = problem.place[:_CLUSTER_DEPTH]
        known = default_reasons if place[:1] == ("defaults",) else reasons.get(place, {})
        if problem.finding.severity is not Severity.ERROR and problem.finding.code in known:
            suppressed.append((problem, known[problem.finding.code]))
        else:
            kept.append(problem)
    return kept, suppressed


def unused_suppressions(
    suppressed: Sequence[tuple[Problem, str]],
    values: Mapping[str, Any],
    reasons: Mapping[Loc, Mapping[str, str]],
) -> Iterator[Problem]:
    """Find unused suppressions."""
    places = {
        (place, code): origin(values, (*place, "suppress", code))
        for place, codes in reasons.items()
        for code in codes
    }
    used = {places.get((problem.place[:_CLUSTER_DEPTH], problem.finding.code)) for problem, _ in suppressed}
    used |= {
        ("defaults", "suppress", problem.finding.code)
        for problem, _ in suppressed
        if problem.place[:1] == ("defaults",)
    }
    for loc in dict.fromkeys(places.values()):
        if loc not in used:
            yield Problem.of(
                loc,
                "UC2243",
                f"there is no {loc[-1]} to suppress here",
                remedy="Remove it; otherwise, it would hide the next warning",
            )


def _suppressions(defaults: Any) -> Mapping[str, str]:
    suppress = defaults.get("suppress") if isinstance(defaults, Mapping) else None
    return suppress if isinstance(suppress, Mapping) else {}
