"""What the context of the CDK app asks for: clusters, and the number of processes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.record import RuleRecord
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.rehearsal import PLAN, PURPOSES, REHEARSAL, rehearsed


def read_context(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the context that ``aws_cdk.App`` would see; the CLI passes a large one in a file that a variable names."""
    context: dict[str, Any] = json.loads(environment.get("CDK_CONTEXT_JSON") or "{}")
    if overflow := environment.get("CONTEXT_OVERFLOW_LOCATION_ENV"):
        context |= json.loads(Path(overflow).read_text(encoding="utf-8"))
    return context


def clusters_of(context: Mapping[str, Any]) -> list[Cluster]:
    """Return the clusters of the rollout file and the wave that the context names, for its purpose."""
    rollout, wave = context.get("rollout"), context.get("wave")
    if not rollout:
        problem = "the context has no rollout file"
        remedy = "Pass one: cdk deploy '**' --context rollout=FILE, or set context.rollout in cdk.json"
        raise FindingsError.of("UC9102", problem, remedy=remedy)
    purpose = context.get("purpose")
    if purpose not in (None, *PURPOSES):
        problem = f"the context value purpose is {quote(purpose)}"
        raise FindingsError.of("UC9104", problem, allowed=", ".join(PURPOSES))
    clusters = load_rollout(rollout, deployable=purpose is None).config.clusters(wave)
    if purpose in (None, PLAN):
        return clusters
    return [rehearsed(cluster, file_system=purpose == REHEARSAL) for cluster in clusters]


def processes_of(context: Mapping[str, Any]) -> int | None:
    """Return the number of processes that the context names. None if it names none."""
    processes = context.get("processes")
    if processes is None:
        return None
    if not str(processes).isdecimal() or int(processes) < 1:
        problem = f"the context value processes is {quote(processes)}"
        raise FindingsError.of("UC9103", problem, allowed="a whole number, 1 or more")
    return int(processes)


RECORDS: Final = (
    RuleRecord(
        "UC9102",
        "The context of the CDK app names a rollout file.",
        remedy="Name one: cdk deploy '**' --context rollout=FILE, or context.rollout of cdk.json.",
        source="Our decision: what is synthesized is never guessed from the files that lie about.",
    ),
    RuleRecord(
        "UC9103",
        "The number of processes that synthesize is a whole number, 1 or more.",
        remedy="Specify a whole number of 1 or more; the default depends on the number of processors.",
        source="Our decision: a word that is not a number would silently become the default.",
    ),
    RuleRecord(
        "UC9104",
        "The purpose of a synthesis is a known one.",
        remedy="Leave it out for a deployment; the finding lists the others.",
        source="Our decision: a purpose that is misspelled would deploy nodes where a rehearsal was meant.",
    ),
)
