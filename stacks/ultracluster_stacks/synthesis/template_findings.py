"""What the template check found in the clusters of a rollout, at the places of the rollout file."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from ultracluster_spec.findings import Finding
from ultracluster_stacks.config.reading.defaults import cluster_locs, origin, with_defaults
from ultracluster_stacks.config.reading.environment import read_rollout
from ultracluster_stacks.config.reading.problem import Loc, Problem, value_at
from ultracluster_stacks.config.rehearsal import REHEARSAL_PREFIX

_OF_STACKS: Final = {"Network": "network", "Storage": "file_system"}
_WARNINGS: Final = "template-warnings.json"


def keep_warnings(assembly: Path, warnings: Iterable[Finding]) -> None:
    """Write the warnings about each cluster beside its templates, with which they are cached."""
    by_folder: dict[Path, list[Finding]] = {folder: [] for folder in _folders(assembly)}
    for finding in warnings:
        by_folder[assembly / f"assembly-{finding.location.partition('/')[0]}"].append(finding)
    for folder, found in by_folder.items():
        (folder / _WARNINGS).unlink(missing_ok=True)
        if found:
            (folder / _WARNINGS).write_text(json.dumps([asdict(finding) for finding in found]), "utf-8")


def kept_warnings(assembly: Path, rollout: str) -> list[Finding]:
    """Return the warnings about the clusters of an assembly, just synthesized or not, at the lines of the rollout file."""
    files = (folder / _WARNINGS for folder in _folders(assembly))
    texts = [file.read_text("utf-8") for file in files if file.exists()]
    found = [Finding(**values) for text in texts for values in json.loads(text)]
    return list(at_their_lines(found, rollout)) if found else []


def _folders(assembly: Path) -> list[Path]:
    """Return the folders of the clusters; a folder of the CDK may also have those of former ones."""
    artifacts = json.loads((assembly / "manifest.json").read_text("utf-8"))["artifacts"].values()
    return [
        assembly / artifact["properties"]["directoryName"]
        for artifact in artifacts
        if artifact["type"] == "cdk:cloud-assembly"
    ]


def at_their_lines(findings: Iterable[Finding], rollout: str) -> Iterator[Finding]:
    """Return findings with the line of the rollout file that their construct comes from; others as they are."""
    source = read_rollout(rollout)
    values = with_defaults(source.values)
    clusters = {
        f"{at['name']}-{at['region']}": loc for loc in cluster_locs(values) if (at := value_at(values, loc))
    }
    for finding in findings:
        stage, *path = finding.location.removeprefix(REHEARSAL_PREFIX).split("/")
        if stage not in clusters:
            yield finding
            continue
        loc = (*clusters[stage], *_part(value_at(values, clusters[stage]), path, finding.problem))
        named = replace(finding, problem=f"{finding.location}: {finding.problem}", location="")
        yield source.locate(Problem(origin(source.values, loc), named))


def _part(cluster: Mapping[str, Any], path: Sequence[str], problem: str) -> Loc:
    """Return the part of a cluster that a construct comes from: a variable, a job, its network or storage."""
    for number, job in enumerate(cluster.get("jobs", ())):
        if job["name"] in path:
            name = problem.partition(":")[0]
            return ("jobs", number, *(("environment", name) if name in job.get("environment", {}) else ()))
    return tuple(part for stack, part in _OF_STACKS.items() if [stack] == path[:1] and part in cluster)
