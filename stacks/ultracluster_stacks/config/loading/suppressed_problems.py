"""Divide the problems of a rollout into shown and suppressed ones."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ultracluster_rules.findings import Severity
from ultracluster_stacks.config.models.rollout import RolloutConfig
from ultracluster_stacks.config.reading.defaults import origin
from ultracluster_stacks.config.reading.problem import Loc, Problem

__all__ = ["reasons_of", "unused_suppressions", "without_suppressed"]

_CLUSTER_DEPTH: Final = 4  # waves, index, clusters, index


def reasons_of(rollout: RolloutConfig) -> dict[Loc, Mapping[str, str]]:
    """Return the reason of each suppressed code, by the place of the cluster.

    Args:
        rollout: A rollout, possibly without the fields that could not be read.
    """
    return {loc: getattr(cluster, "suppress", {}) for loc, cluster in rollout.located_clusters()}


def without_suppressed(
    problems: Sequence[Problem], values: Mapping[str, Any], reasons: Mapping[Loc, Mapping[str, str]]
) -> tuple[list[Problem], list[tuple[Problem, str]]]:
    """Divide problems into shown ones and suppressed ones with their reasons.

    Args:
        problems: All problems of a rollout, with places as in the merged rollout.
        values: The values of the file, before merging.
        reasons: The reason of each suppressed code, by the place of the cluster.
    """
    of_defaults = _given(values.get("defaults"))
    kept: list[Problem] = []
    suppressed: list[tuple[Problem, str]] = []
    for problem in problems:
        place = problem.loc[:_CLUSTER_DEPTH]
        known = of_defaults if place[:1] == ("defaults",) else reasons.get(place, {})
        if problem.severity is not Severity.ERROR and problem.code in known:
            suppressed.append((problem, known[problem.code]))
        else:
            kept.append(problem)
    return kept, suppressed


def unused_suppressions(
    suppressed: Sequence[tuple[Problem, str]],
    values: Mapping[str, Any],
    reasons: Mapping[Loc, Mapping[str, str]],
) -> Iterator[Problem]:
    """Find suppressions without a problem to suppress, each once.

    Args:
        suppressed: What was suppressed.
        values: The values of the file, before merging.
        reasons: The reason of each suppressed code, by the place of the cluster.
    """
    places = {
        (place, code): origin(values, (*place, "suppress", code))
        for place, codes in reasons.items()
        for code in codes
    }
    hit = {places.get((problem.loc[:_CLUSTER_DEPTH], problem.code)) for problem, _ in suppressed}
    hit |= {
        ("defaults", "suppress", problem.code)
        for problem, _ in suppressed
        if problem.loc[:1] == ("defaults",)
    }
    for loc in dict.fromkeys(places.values()):
        if loc not in hit:
            yield Problem(
                loc=loc,
                code="UC2243",
                problem=f"no {loc[-1]} is found here that could be suppressed",
                remedy="Take it out: it would hide the next one",
            )


def _given(defaults: Any) -> Mapping[str, str]:
    suppress = defaults.get("suppress") if isinstance(defaults, Mapping) else None
    return suppress if isinstance(suppress, Mapping) else {}
