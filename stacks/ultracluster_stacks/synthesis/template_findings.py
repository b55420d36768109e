"""What the template check found in the clusters of a rollout, at the places of the rollout file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config.reading.defaults import cluster_locs, origin, with_defaults
from ultracluster_stacks.config.reading.environment import read_rollout
from ultracluster_stacks.config.reading.problem import Loc, Problem, value_at
from ultracluster_stacks.config.rehearsal import REHEARSAL_PREFIX

_REPORT: Final = "validation-report.json"
_PLUGIN: Final = "ultracluster"
_OF_STACKS: Final = {"Network": "network", "Storage": "file_system"}


def take_findings(assembly: Path, rollout: str) -> tuple[Finding, ...]:
    """Return the findings in the report of an assembly, and remove them there, so that the CDK does not repeat them."""
    path = assembly / _REPORT
    report = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"pluginReports": []}
    ours = [each for each in report["pluginReports"] if each["pluginName"] == _PLUGIN]
    if not any(each.get("violations") for each in ours):
        return ()
    source = read_rollout(rollout)
    values = with_defaults(source.values)
    found = {
        source.locate(Problem(origin(source.values, loc), finding)): None
        for each in ours
        for violation in each["violations"]
        for loc, finding in _problems(violation, values)
    }
    others = [each for each in report["pluginReports"] if each["pluginName"] != _PLUGIN]
    path.write_text(json.dumps(report | {"pluginReports": others}, indent=2), encoding="utf-8")
    return tuple(found)


def _problems(violation: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[tuple[Loc, Finding]]:
    problem, remedy = violation["description"], violation.get("suggestedFix", "")
    for construct in violation["violatingConstructs"]:
        stage, *path = construct.get("constructPath", "").removeprefix(REHEARSAL_PREFIX).split("/")
        loc = next((loc for loc in cluster_locs(values) if _stage(value_at(values, loc)) == stage), ())
        yield (
            (*loc, *_part(value_at(values, loc), path, problem)),
            Finding(violation["ruleName"], problem, remedy=remedy),
        )


def _stage(cluster: Mapping[str, Any]) -> str:
    return f"{cluster['name']}-{cluster['region']}"


def _part(cluster: Mapping[str, Any], path: Sequence[str], problem: str) -> Loc:
    """Return the part of a cluster that a construct comes from: a variable, a job, its network or storage."""
    for number, job in enumerate(cluster.get("jobs", ())):
        if job["name"] in path:
            name = problem.partition(":")[0]
            return ("jobs", number, *(("environment", name) if name in job.get("environment", {}) else ()))
    return tuple(part for stack, part in _OF_STACKS.items() if [stack] == path[:1] and part in cluster)
