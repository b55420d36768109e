"""Load a rollout file and report all problems at once, with file and line."""

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from ultracluster_spec.capacity import LAUNCH_RULES
from ultracluster_spec.cluster_rules.cluster_rules import broken_by_cluster
from ultracluster_spec.cluster_rules.rollout_rules import broken_by_rollout
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_spec.record import RuleRecord, is_error
from ultracluster_spec.rollout import Rollout, with_placeholders
from ultracluster_spec.rules import broken
from ultracluster_stacks.config.loading.error_messages import MISSING, MOST_PROBLEMS, translate, unread_locs
from ultracluster_stacks.config.loading.suppressions import (
    refused_suppressions,
    suppressions,
    unused_suppressions,
    without_suppressed,
)
from ultracluster_stacks.config.reading.defaults import CLUSTER_DEPTH, cluster_locs, origin, with_defaults
from ultracluster_stacks.config.reading.environment import read_rollout
from ultracluster_stacks.config.reading.partial import partial_value
from ultracluster_stacks.config.reading.problem import Problem, under, wrong_type
from ultracluster_stacks.config.reading.yaml_source import UNREADABLE, YamlSource
from ultracluster_stacks.config.records import RECORDS as CONTENT_RECORDS

LARGEST_ROLLOUT: Final = 50_000
"""Maximum number of values with `defaults` merged into each cluster; 90 clusters have about 4,000."""

_VALUES_OF_EMPTY_CLUSTER: Final = 20  # an empty cluster takes time for checks and messages too


@dataclass(frozen=True, kw_only=True, slots=True)
class SuppressedWarning:
    """A warning suppressed by the file."""

    finding: Finding
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedRollout:
    """A rollout with `defaults` merged into each cluster, and its warnings, shown or suppressed, in file order.

    `unshown` are warnings of what no evidence from AWS shows yet, for the commands that decide whether to deploy.
    """

    config: Rollout
    warnings: tuple[Finding, ...]
    unshown: tuple[Finding, ...] = ()
    suppressed: tuple[SuppressedWarning, ...] = ()


def load_rollout(path: str | os.PathLike[str], *, deployable: bool = True) -> LoadedRollout:
    """Load and validate a rollout file or an environment file, without an AWS account or network.

    Args:
        path: File in YAML of at most 256 KiB.
        deployable: Whether all capacity must be bought (UC2220). If not, a placeholder is the reservation of an order that
            is not resolved. Default: it must.

    Raises:
        FindingsError: The file is invalid; contains all errors and warnings in file order.
    """
    source = read_rollout(path)
    _check_size(source)
    config, readable, problems = _validate(source, deployable=deployable)
    reasons = suppressions(source.values, readable)
    kept, suppressed = without_suppressed([*source.problems, *problems], reasons)
    if config is None or any(is_error(problem.finding, CONTENT_RECORDS) for problem in kept):
        raise FindingsError(_findings(source, kept))
    unshown, more_suppressed = without_suppressed(
        [
            Problem((*loc, *place), finding)
            for loc, cluster in config.located_clusters()
            for place, finding in broken(LAUNCH_RULES, cluster)
        ],
        reasons,
    )
    suppressed += more_suppressed
    kept += unused_suppressions(suppressed, source.values, reasons)
    return LoadedRollout(
        config=config,
        warnings=_findings(source, kept),
        unshown=_findings(source, unshown),
        suppressed=tuple(
            SuppressedWarning(finding=_findings(source, [problem])[0], reason=reason)
            for problem, reason in suppressed
        ),
    )


def load_incomplete(path: str | os.PathLike[str], *, is_incomplete: Callable[[Finding], bool]) -> Rollout:
    """Load a rollout for a command that fills in what is missing or invalid, of which no attribute then exists.

    ``is_incomplete`` selects the findings that the command fixes; all others are reported as by `load_rollout`.
    """
    source = read_rollout(path)
    _check_size(source)
    _, readable, problems = _validate(source, deployable=True)
    kept, _ = without_suppressed([*source.problems, *problems], suppressions(source.values, readable))
    others = [finding for finding in _findings(source, kept) if not is_incomplete(finding)]
    if any(is_error(finding, CONTENT_RECORDS) for finding in others):
        raise FindingsError(others)
    return readable


@cache
def _reader() -> TypeAdapter[Rollout]:
    return TypeAdapter(Rollout)


def _check_size(source: YamlSource) -> None:
    """Limit the size after merging, since `defaults` are copied into each cluster."""
    inherited = sum(loc[:1] == ("defaults",) for loc in source.places)
    clusters = len(cluster_locs(source.values))
    size = len(source.places) + clusters * (inherited + _VALUES_OF_EMPTY_CLUSTER)
    if size > LARGEST_ROLLOUT:
        problem = (
            f"got {clusters:,} clusters with {inherited:,} values under defaults, {size:,} values in total"
        )
        allowed = f"at most {LARGEST_ROLLOUT:,} values"
        remedy = "Split the rollout into several files"
        raise FindingsError.of("UC1018", problem, allowed=allowed, remedy=remedy, location=source.name)


def _validate(source: YamlSource, *, deployable: bool) -> tuple[Rollout | None, Rollout, list[Problem]]:
    """Return the rollout or None if invalid, its readable part, and all problems."""
    values = with_defaults(source.values)
    problems = _defaults_problems(source.values)
    config: Rollout | None = None
    try:
        config = readable = _reader().validate_python(values)
        if not deployable:
            config = readable = with_placeholders(config)
    except ValidationError as error:
        problems += translate(error, Rollout, additional_keys=("defaults",))
        readable = partial_value(Rollout, values, unread_locs(error))
    for loc, cluster in readable.located_clusters():
        problems += (Problem((*loc, *place), finding) for place, finding in broken_by_cluster(cluster))
    problems += itertools.starmap(Problem, broken_by_rollout(readable))
    problems += refused_suppressions(suppressions(source.values, readable))
    return config, readable, problems


def _defaults_problems(values: dict[str, Any]) -> list[Problem]:
    """Validate `defaults` separately: clusters may override all of them, or there may be no clusters."""
    defaults = values.get("defaults", {})
    if defaults is UNREADABLE or defaults == {}:
        return []
    if not isinstance(defaults, dict):
        return [wrong_type(("defaults",), defaults, allowed="a mapping")]
    # As the only cluster of a rollout, because the reader of a rollout takes a while to build.
    try:
        _reader().validate_python({"version": 1, "waves": ({"name": "defaults", "clusters": (defaults,)},)})
    except ValidationError as error:
        problems = translate(error, Rollout)
    else:
        problems = []
    # Clusters provide required values that are missing here.
    return [
        under(("defaults",), Problem(problem.place[CLUSTER_DEPTH:], problem.finding))
        for problem in problems
        if problem.finding.code != MISSING or "jobs" in problem.place
    ]


def _findings(source: YamlSource, problems: list[Problem]) -> tuple[Finding, ...]:
    if len(problems) > MOST_PROBLEMS:
        first_problems = sorted(problems, key=lambda problem: _line(source, problem))[: MOST_PROBLEMS - 1]
        return (*_findings(source, first_problems), _too_many(source))
    located: dict[Finding, int] = {}
    for problem in problems:
        loc = origin(source.values, problem.place)
        located.setdefault(source.locate(Problem(loc, problem.finding)), _line(source, problem))
    return tuple(sorted(located, key=located.__getitem__))


def _line(source: YamlSource, problem: Problem) -> int:
    if problem.finding.location:  # the YAML reader adds a location such as rollout.yaml:12
        return int(problem.finding.location.rpartition(":")[2])
    return source.place(origin(source.values, problem.place))[1]


def _too_many(source: YamlSource) -> Finding:
    problem = f"the file has more than {MOST_PROBLEMS - 1:,} problems; only the first are shown"
    remedy = "Check that this is a rollout file, or fix these problems and validate again"
    return Finding("UC1031", problem, remedy=remedy, location=source.name)


RECORDS: Final = (
    RuleRecord(
        "UC1018",
        "A rollout has at most 50,000 values once the defaults are in each cluster.",
        remedy="Split the rollout into several files, or move long lists from `defaults` to the cluster that needs them.",
        source="Our decision: `defaults` are copied into each cluster, so a small file could grow past the memory of the machine.",
    ),
    RuleRecord(
        "UC1031",
        "A rollout has at most 1,000 problems, so that all of them are shown.",
        remedy="Check that this is a rollout file, or fix the listed problems and validate again.",
        source="Our decision: longer output would not be read.",
    ),
)
