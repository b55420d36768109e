"""The CDK app: synthesize the clusters of a rollout file, taking unchanged ones from the cache."""

import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.synthesis.assembly.cache import CACHE_DIRECTORY, AssemblyCache, configurations
from ultracluster_stacks.synthesis.assembly.fingerprint import synthesis_fingerprint
from ultracluster_stacks.synthesis.assembly.parts import Part, merge_assembly, split_assembly
from ultracluster_stacks.synthesis.assembly.workers import processes_for, synthesize_in_processes
from ultracluster_stacks.synthesis.context import clusters_of, processes_of, read_context
from ultracluster_stacks.synthesis.native_validation import NativeValidation, ValidationFailedError
from ultracluster_stacks.synthesis.template_findings import at_their_lines, kept_warnings


def main() -> int:
    """Synthesize what the CDK CLI asks for, and return the exit code: 2 when a rule is broken.

    Context values: ``rollout``, the rollout file; ``wave``, the only wave to synthesize (default: all waves);
    ``cache``, ``false`` to synthesize unchanged clusters again; ``processes``, the number of processes; ``purpose``, one of
    `PURPOSES` (default: a deployment, for which all capacity must be bought). The cache is used only in a directory
    with a cdk.json. With ``validation``, ``native``, the CDK validates templates only if the native build of its engine, where
    one is installed, finds something in them.
    """
    # Constructs live until the process ends. Looking for garbage among them takes a fifth of its processor seconds.
    gc.set_threshold(100_000, 50, 50)
    atexit.register(gc.freeze)
    context = read_context(os.environ)
    outdir = os.environ.get("CDK_OUTDIR")
    # Without staging, as `sam local` requires it, an assembly refers to source files by relative paths and
    # cannot be cached or merged.
    in_place = bool(context.get("aws:cdk:disable-asset-staging"))
    use_cache = str(context.get("cache")).lower() != "false" and Path("cdk.json").is_file()
    _limit_threads_of_node()
    clusters: list[Cluster] = []
    try:
        clusters = clusters_of(context)
        cache = None
        if outdir and use_cache and not in_place:
            cache = AssemblyCache(CACHE_DIRECTORY, fingerprint=synthesis_fingerprint(context, os.environ))
        processes = 1 if in_place else processes_of(context)
        native = (
            bool(outdir) and context.get("validation") == "native" and NativeValidation.is_usable(os.environ)
        )
        if native:  # read by the CDK, in Node
            os.environ["CDK_VALIDATION"] = "false"
        directory = Path(outdir) if outdir else None
        assembly = synthesize(clusters, directory, cache=cache, processes=processes, native_validation=native)
        sys.stderr.writelines(
            f"warning: {finding}\n" for finding in kept_warnings(assembly, context["rollout"])
        )
    except FindingsError as error:
        found = at_their_lines(error.findings, context["rollout"]) if clusters else error.findings
        sys.stderr.writelines(f"{finding}\n" for finding in found)
        return 2
    except ValidationFailedError:
        return _validate_with_the_cdk(context)
    return 0


def _validate_with_the_cdk(context: Mapping[str, Any]) -> int:
    """Run the app again in a process of its own, since Node has read that the CDK is not to validate."""
    left = {name: value for name, value in context.items() if name != "validation"}
    variables = os.environ | {"CDK_CONTEXT_JSON": json.dumps(left)}
    del variables["CDK_VALIDATION"]
    variables.pop("CONTEXT_OVERFLOW_LOCATION_ENV", None)
    program = f"import sys; from {__name__} import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", program], env=variables, check=False).returncode


def _limit_threads_of_node() -> None:
    """Let Node start one background thread, unless an option of the user says how many.

    Four, its default, compile the WebAssembly of the CDK's validation again with optimizations, which takes a fifth of the
    processor seconds of a synthesis and is done when nothing is left to validate.
    """
    options = os.environ.get("NODE_OPTIONS", "")
    if "--v8-pool-size" not in options:
        os.environ["NODE_OPTIONS"] = f"{options} --v8-pool-size=1".lstrip()


def synthesize(
    clusters: Sequence[Cluster],
    directory: Path | None,
    *,
    cache: AssemblyCache | None = None,
    processes: int | None = None,
    native_validation: bool = False,
) -> Path:
    """Synthesize clusters, importing aws_cdk only when one of them is not in the cache; return the directory.

    Without a directory, write to the CDK's default, without the cache. Default processes: what the machine allows.

    Raises:
        ValidationFailedError: With `native_validation`, if that finds something in what is synthesized.
    """
    configs = configurations(clusters)
    parts: dict[str, Part] = {}
    if cache and directory:
        parts = {stage: part for stage, config in configs.items() if (part := cache.get(config))}
    missing = [cluster for cluster in clusters if cluster.stage not in parts]
    processes = processes or processes_for(len(missing))
    validation = NativeValidation() if native_validation and missing else None
    if directory is None or (processes == 1 and not parts):
        assembly = _synthesize_in_process(clusters, directory)
        if validation:
            validation.require(assembly)
        if cache and directory:
            cache.put((configs[stage], part) for stage, part in split_assembly(directory).items())
        return assembly
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".parts-") as temporary:
        for root in _synthesize_missing(missing, Path(temporary), processes):
            if validation:
                validation.require(root)
            synthesized = split_assembly(root)
            parts |= synthesized
            if cache:
                cache.put((configs[stage], part) for stage, part in synthesized.items())
    merge_assembly(directory, [parts[stage] for stage in configs])
    return directory


def _synthesize_in_process(clusters: Sequence[Cluster], directory: Path | None) -> Path:
    from ultracluster_stacks.synthesis import in_process  # noqa: PLC0415 - aws_cdk, not needed for the cache

    return in_process.synthesize(clusters, directory)


def _synthesize_missing(clusters: Sequence[Cluster], directory: Path, processes: int) -> list[Path]:
    if not clusters:
        return []
    if processes == 1:
        return [_synthesize_in_process(clusters, directory / "0")]
    return synthesize_in_processes(clusters, directory, processes=processes)
