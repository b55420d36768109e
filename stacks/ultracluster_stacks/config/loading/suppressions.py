"""Warnings that a rollout file suppresses, each with a reason."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ultracluster_spec.credentials import shown
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.findings import Severity
from ultracluster_spec.record import RuleRecord, by_code
from ultracluster_spec.rollout import Rollout
from ultracluster_stacks.config.reading.defaults import CLUSTER_DEPTH, origin
from ultracluster_stacks.config.reading.problem import Loc, Problem
from ultracluster_stacks.config.records import RECORDS as CONTENT


def suppressions(values: Mapping[str, Any], rollout: Rollout) -> dict[Loc, Mapping[str, str]]:
    """Return the reason of each suppressed code, by the location of the cluster or of the defaults."""
    defaults = values.get("defaults")
    suppress = defaults.get("suppress") if isinstance(defaults, Mapping) else None
    of_clusters = {loc: getattr(cluster, "suppress", {}) for loc, cluster in rollout.located_clusters()}
    return {("defaults",): suppress if isinstance(suppress, Mapping) else {}} | of_clusters


def refused_suppressions(reasons: Mapping[Loc, Mapping[str, str]]) -> Iterator[Problem]:
    """Find codes that are no rule of a rollout file, or cannot be suppressed."""
    for owner, codes in reasons.items():
        for code in codes:
            record, loc = _KNOWN.get(code), (*owner, "suppress", code)
            if record is None and isinstance(code, str):
                problem, allowed = (
                    f"got {shown(code)}, which is not a rule",
                    "the code of a warning, such as UC4103",
                )
                remedy = suggestion(code, [known for known, each in _KNOWN.items() if each.suppressible])
                yield Problem.of(loc, "UC2240", problem, allowed, remedy)
            elif record and not record.suppressible:
                severity = f"{'an' if record.severity == 'error' else 'a'} {record.severity}"
                problem = f"{code} is {severity} that cannot be suppressed"
                allowed = "warnings that `ultracluster docs CODE` shows as suppressible"
                remedy = f"Remove it; `ultracluster docs {code}` shows the remedy"
                yield Problem.of(loc, "UC2241", problem, allowed, remedy)


def without_suppressed(
    problems: Sequence[Problem], reasons: Mapping[Loc, Mapping[str, str]]
) -> tuple[list[Problem], list[tuple[Problem, str]]]:
    """Return the remaining problems, and the suppressed ones with their reasons."""
    kept: list[Problem] = []
    suppressed: list[tuple[Problem, str]] = []
    for problem in problems:
        code = problem.finding.code
        reason = reasons.get(_owner(problem), {}).get(code)
        if reason is not None and code in _KNOWN and _KNOWN[code].suppressible:
            suppressed.append((problem, reason))
        else:
            kept.append(problem)
    return kept, suppressed


def unused_suppressions(
    suppressed: Sequence[tuple[Problem, str]],
    values: Mapping[str, Any],
    reasons: Mapping[Loc, Mapping[str, str]],
) -> Iterator[Problem]:
    """Find suppressed codes of clusters without such a warning."""
    used = {origin(values, (*_owner(problem), "suppress", problem.finding.code)) for problem, _ in suppressed}
    written = [
        origin(values, (*owner, "suppress", code))
        for owner, codes in reasons.items()
        if owner != ("defaults",)
        for code in codes
    ]
    for loc in dict.fromkeys(written):
        if loc not in used:
            remedy = "Remove it; otherwise, it would hide the next warning"
            yield Problem.of(loc, "UC2243", f"there is no {loc[-1]} to suppress here", remedy=remedy)


def _owner(problem: Problem) -> Loc:
    """Return the location of the cluster or of the defaults that a problem is in."""
    return problem.place[:1] if problem.place[:1] == ("defaults",) else problem.place[:CLUSTER_DEPTH]


RECORDS: Final = (
    RuleRecord(
        "UC2240",
        "A suppressed rule exists.",
        remedy="Use the code exactly as the finding shows it; `ultracluster docs rules` lists all codes.",
        source="Our decision: a misspelt code would leave the warning, and people would believe that they had dealt with it.",
    ),
    RuleRecord(
        "UC2241",
        "A suppressed rule is a warning that can be suppressed.",
        remedy="Remove the suppression and follow the remedy of `ultracluster docs CODE`. Errors, and warnings about money, data and security, cannot be suppressed.",
        source="Our decision: what is safe to know better about is marked in the note of its rule.",
    ),
    RuleRecord(
        "UC2243",
        "A suppression matches a warning.",
        severity=Severity.WARNING,
        remedy="Remove the suppression: its warning no longer occurs, and it would hide a later one.",
        source="Our decision: suppressions are looked through as code is.",
    ),
)

_KNOWN: Final = by_code(CONTENT.values(), RECORDS)
