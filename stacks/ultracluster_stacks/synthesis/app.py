"""The CDK app: synthesizes the clusters of a rollout file, and takes those that have not changed from the cache."""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_stacks.config import ClusterConfig, load_rollout
from ultracluster_stacks.synthesis.assembly.cdk_context import read_context
from ultracluster_stacks.synthesis.assembly.workers import processes_for, synthesize_in_processes

if TYPE_CHECKING:  # a synthesis without the cache does without these
    from ultracluster_stacks.synthesis.assembly.cache import AssemblyCache
    from ultracluster_stacks.synthesis.assembly.parts import Part

__all__ = ["CACHE_DIRECTORY", "main", "synthesize"]

CACHE_DIRECTORY = Path(".ultracluster/cache/assemblies")
"""Where the cache is, in the folder of the app."""


def main() -> int:
    """Synthesize what the CDK CLI asks for, and return the exit code: 2 when a rule was broken.

    The context names the rollout file (``rollout``), perhaps one wave of it (``wave``), and whether unchanged
    clusters are taken from the cache (``cache``, which they are unless it is ``false``); ``processes`` says how many
    synthesize the others. There is a cache only in a folder with a cdk.json.
    """
    # A plugin of pydantic that is installed beside us could change what a rollout gives; to look for one takes 5 ms.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    context = read_context(os.environ)
    outdir = os.environ.get("CDK_OUTDIR")
    # Then an assembly points at files outside of it, by paths that hold for one place only; so sam local wants it.
    in_place = bool(context.get("aws:cdk:disable-asset-staging"))
    wanted = str(context.get("cache")).lower() != "false" and Path("cdk.json").is_file()
    try:
        synthesize(
            _clusters(context),
            Path(outdir) if outdir else None,
            cache=_cache(context) if outdir and wanted and not in_place else None,
            processes=1 if in_place else _processes(context),
        )
    except FindingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def synthesize(
    clusters: Sequence[ClusterConfig],
    directory: Path | None,
    *,
    cache: "AssemblyCache | None" = None,
    processes: int | None = None,
) -> None:
    """Synthesize clusters; aws_cdk is imported only when one of them is not in the cache.

    Args:
        clusters: The clusters.
        directory: Where to write the cloud assembly. None for where the CDK writes by itself, without the cache.
        cache: What was synthesized before. Default: everything is synthesized.
        processes: How many processes synthesize. Default: what cores, memory and the number of clusters allow.

    Raises:
        FindingsError: If a cluster breaks a rule, or a process fails (UC9101).
    """
    # Who deploys a cluster is in no template, so another profile is no other cluster.
    configs = {each.stage: each.model_dump_json(exclude={"profile"}) for each in clusters}
    parts: dict[str, Part] = {}
    if cache and directory:
        parts = {stage: part for stage, config in configs.items() if (part := cache.get(config))}
    missing = [each for each in clusters if each.stage not in parts]
    processes = processes or processes_for(len(missing))
    if directory is None or (processes == 1 and cache is None):
        _synthesize_here(clusters, directory)
        return
    # Not at the top: one process without the cache needs neither.
    from ultracluster_stacks.synthesis.assembly.parts import put_together, take_apart  # noqa: PLC0415

    if cache and processes == 1 and not parts:
        _synthesize_here(clusters, directory)
        cache.put((configs[stage], part) for stage, part in take_apart(directory).items())
        return
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".parts-") as temporary:
        for root in _synthesize_apart(missing, Path(temporary), processes):
            found = take_apart(root)
            parts |= found
            if cache:
                cache.put((configs[stage], part) for stage, part in found.items())
    put_together(directory, [parts[stage] for stage in configs])


def _clusters(context: Mapping[str, Any]) -> list[ClusterConfig]:
    rollout, wave = context.get("rollout"), context.get("wave")
    if not rollout:
        problem = "the context names no rollout file"
        remedy = "Name one: cdk deploy '**' --context rollout=FILE, or context.rollout of cdk.json"
        raise FindingsError([Finding(code="UC9102", problem=problem, remedy=remedy)])
    return load_rollout(rollout).config.clusters(wave)


def _cache(context: Mapping[str, Any]) -> "AssemblyCache":
    # A synthesis without the cache does without them and hashlib.
    from ultracluster_stacks.synthesis.assembly.cache import AssemblyCache  # noqa: PLC0415
    from ultracluster_stacks.synthesis.assembly.fingerprint import synthesis_fingerprint  # noqa: PLC0415

    return AssemblyCache(CACHE_DIRECTORY, fingerprint=synthesis_fingerprint(context, os.environ))


def _processes(context: Mapping[str, Any]) -> int | None:
    given = context.get("processes")
    if given is None:
        return None
    if not str(given).isdecimal() or int(given) < 1:
        problem = f"the context value processes is {quote(given)}"
        raise FindingsError([Finding(code="UC9103", problem=problem, allowed="a whole number, 1 or more")])
    return int(given)


def _synthesize_here(clusters: Sequence[ClusterConfig], directory: Path | None) -> None:
    from ultracluster_stacks.synthesis.in_process import synthesize_here  # noqa: PLC0415 - aws_cdk; not for the cache

    synthesize_here(clusters, directory)


def _synthesize_apart(clusters: Sequence[ClusterConfig], directory: Path, processes: int) -> list[Path]:
    if not clusters:
        return []
    if processes == 1:
        _synthesize_here(clusters, directory / "0")
        return [directory / "0"]
    return synthesize_in_processes(clusters, directory, processes=processes)
