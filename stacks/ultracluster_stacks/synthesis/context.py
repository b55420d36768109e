"""What the context of the CDK app asks for: clusters, and the number of processes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError, quote
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
        raise FindingsError.message(problem, remedy=remedy)
    purpose = context.get("purpose")
    if purpose not in (None, *PURPOSES):
        problem = f"the context value purpose is {quote(purpose)}"
        raise FindingsError.message(problem, allowed=", ".join(PURPOSES))
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
        raise FindingsError.message(problem, allowed="a whole number, 1 or more")
    return int(processes)
