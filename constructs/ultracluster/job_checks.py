"""What is checked of the settings that every kind of job has."""

from collections.abc import Mapping, Sequence

from constructs import Construct

from ultracluster.compile_cache import CompileCache
from ultracluster.job_environment import check_environment
from ultracluster.launcher import check_launcher
from ultracluster.posix_compile_cache import PosixCompileCache
from ultracluster.training_queue import TrainingQueue
from ultracluster_catalog.findings import Finding, quote
from ultracluster_catalog.neuron_settings import NeuronSettings
from ultracluster_catalog.submission_tags import MOST_ARRAY_JOBS, MOST_DEPENDENCIES

__all__ = ["check_array_size", "check_job"]

_MOST_ATTEMPTS = 10
_MOST_TAG_CHARACTERS = 256


def check_job(
    *,
    queue: TrainingQueue,
    command: Sequence[str],
    launcher: str,
    processes_per_node: int | None,
    environment: Mapping[str, str],
    attempts: int,
    neuron: NeuronSettings | None,
    after: Sequence[Construct],
    compile_cache: CompileCache | PosixCompileCache | None,
) -> list[Finding]:
    """Find what is wrong or doubtful with them.

    Args:
        queue: Queue of the job.
        command: What the launcher starts.
        launcher: What starts it.
        processes_per_node: Processes on each node that were asked for; None for the default.
        environment: The variables that were given.
        attempts: How often the job is started.
        neuron: Settings of compiler and runtime; None for their defaults.
        after: Jobs that it waits for.
        compile_cache: Its compile cache; None for none.
    """
    findings = check_launcher(launcher, processes_per_node, command)
    findings += check_environment(environment)
    if neuron is not None:
        findings += neuron.check(queue.nodes.instance_type, environment)
    if not 1 <= attempts <= _MOST_ATTEMPTS:
        findings.append(
            Finding(
                code="UC6104",
                problem=f"got {quote(attempts)}",
                allowed=f"1 to {_MOST_ATTEMPTS}",
                path="attempts",
            )
        )
    if (
        isinstance(compile_cache, PosixCompileCache)
        and compile_cache.file_system is not queue.nodes.file_system
    ):
        findings.append(
            Finding(
                code="UC6016",
                problem=f"the nodes do not mount the file system of {compile_cache.path}",
                remedy="Give the nodes the file system of the cache",
                path="compile_cache",
            )
        )
    names = [job.node.id for job in after]
    # A tag of the definition carries the names.
    characters = len(" ".join(names))
    if len(names) > MOST_DEPENDENCIES or len(set(names)) < len(names) or characters > _MOST_TAG_CHARACTERS:
        findings.append(
            Finding(
                code="UC6113",
                problem=f"got {len(names)} jobs with {len(set(names))} different names of {characters} characters in all",
                allowed=f"up to {MOST_DEPENDENCIES} jobs, each with a name of its own, and {_MOST_TAG_CHARACTERS} "
                "characters",
                path="after",
            )
        )
    return findings


def check_array_size(array_size: int | None) -> list[Finding]:
    """Find whether AWS Batch takes an array of this size.

    Args:
        array_size: Jobs of the array. None for no array.
    """
    if array_size is None or 1 < array_size <= MOST_ARRAY_JOBS:
        return []
    allowed = f"2 to {MOST_ARRAY_JOBS:,}, or none"
    return [Finding(code="UC6111", problem=f"got {quote(array_size)}", allowed=allowed, path="array_size")]
