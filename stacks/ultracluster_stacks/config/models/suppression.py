"""`suppress` of a cluster: warnings that somebody has looked at, each with the reason."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator

from ultracluster_rules.findings import Severity
from ultracluster_rules.rules import RULES
from ultracluster_stacks.config.models.constraints import refusal
from ultracluster_stacks.config.reading.defaults import origin
from ultracluster_stacks.config.reading.did_you_mean import suggestion
from ultracluster_stacks.config.reading.problem import Loc, Problem, shown

if TYPE_CHECKING:  # its clusters have the field
    from ultracluster_stacks.config.models.rollout import RolloutConfig

__all__ = ["Suppress", "reasons_of", "unused_suppressions", "without_suppressed"]

_CLUSTER_DEPTH: Final = 4  # waves, index, clusters, index


def _check_code(code: str) -> str:
    from ultracluster_rules.rule_notes import rule_note  # noqa: PLC0415 - texts, which a usual file never needs

    if code not in RULES:
        raise refusal(
            code="UC2240",
            problem=f"got {shown(code)}, which is no rule",
            allowed="the code of a warning, such as UC4103",
            remedy=suggestion(code, [each for each in RULES if rule_note(each).suppressible]),
        )
    if not rule_note(code).suppressible:
        raise refusal(
            code="UC2241",
            problem=f"{code} is {_article(RULES[code].severity)} that cannot be suppressed",
            allowed="warnings that `ultracluster rules CODE` says can be switched off",
            remedy=f"Take it out; `ultracluster rules {code}` says what to do about it",
        )
    return code


def _article(severity: str) -> str:
    return f"an {severity}" if severity == "error" else f"a {severity}"


def _check_reason(reason: str) -> str:
    if not reason.strip():
        raise refusal(
            code="UC2242",
            problem="the reason is empty",
            allowed="why this warning does not matter here, in a few words",
        )
    return reason


Suppress = dict[Annotated[str, AfterValidator(_check_code)], Annotated[str, AfterValidator(_check_reason)]]
"""The reason for each suppressed code."""


def reasons_of(rollout: "RolloutConfig") -> dict[Loc, Mapping[str, str]]:
    """The reason of each suppressed code, by the place of the cluster.

    Args:
        rollout: A rollout, possibly without the fields that could not be read.
    """
    return {
        ("waves", w, "clusters", c): getattr(cluster, "suppress", {})
        for w, wave in enumerate(getattr(rollout, "waves", ()))
        for c, cluster in enumerate(getattr(wave, "clusters", ()))
    }


def without_suppressed(
    problems: Sequence[Problem], values: Mapping[str, Any], reasons: Mapping[Loc, Mapping[str, str]]
) -> tuple[list[Problem], list[tuple[Problem, str]]]:
    """Divide problems into those that are shown and the suppressed ones with their reasons.

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
    """Find suppressions that hit nothing, each once where it stands: what they were about has gone.

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
