"""What is checked of the settings that every kind of job has."""

import re
from collections.abc import Iterator, Mapping, Sequence

from aws_cdk import Stack
from constructs import Construct

from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.buckets import refuse_unmounted_cache
from ultracluster_rules.credentials import credential_kind, names_credential
from ultracluster_rules.findings import Finding, quote
from ultracluster_rules.job_definitions import (
    ARRAY_SIZE,
    ATTEMPTS,
    check_dependencies,
    check_dependency,
    check_launcher,
    check_variables,
)
from ultracluster_rules.jobs import check_neuron_settings

__all__ = ["check_array_size", "check_job"]


# Dynamic references that CloudFormation replaces by the secret. (The other kind, ssm, is for what is none.)
_READS_SECRET = re.compile(r"\{\{resolve:(?:secretsmanager|ssm-secure):")


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
    findings += check_variables(environment, path="environment.")
    findings += _check_credentials(queue, environment, command)
    if neuron is not None:
        findings += check_neuron_settings(neuron, queue.nodes.instance_type, environment)
    findings += ATTEMPTS.check(attempts, path="attempts")
    if (
        isinstance(compile_cache, PosixCompileCache)
        and compile_cache.file_system is not queue.nodes.file_system
    ):
        findings.append(refuse_unmounted_cache(compile_cache.path))
    names = [job.node.id for job in after]
    findings += check_dependencies(names, path="after")
    return findings + [
        finding.at("after")
        for index, name in enumerate(names)
        for finding in check_dependency(name, earlier=names[:index], known=None)
    ]


def _check_credentials(
    scope: Construct, environment: Mapping[str, str], command: Sequence[str]
) -> Iterator[Finding]:
    """Find credentials: everybody who may describe a job definition reads it."""
    places = [(f"environment.{name}", name, value) for name, value in environment.items()]
    places += [(f"command[{index}]", "", value) for index, value in enumerate(command)]
    for path, name, value in places:
        text = _written(scope, value)
        if kind := credential_kind(text):
            problem = f"this looks like {kind}"
        elif _READS_SECRET.search(text):
            problem = "CloudFormation would write the secret itself into the job definition"
        elif names_credential(name):
            problem = f"the value of {quote(name)} is a credential"
        else:
            continue
        yield Finding(
            code="UC2253",
            problem=problem,
            allowed="no credentials",
            remedy="Let the program read it from AWS Secrets Manager, and grant the job's role to read it",
            path=path,
        )


def _written(scope: Construct, value: str) -> str:
    """The text of a value as the template will hold it, as far as that can be said now."""
    # Asked in Python: a question to the CDK for each variable would take longer than the job itself.
    if "${Token[" not in value:
        return value
    try:
        return str(Stack.of(scope).resolve(value))
    except RuntimeError:  # such as of a resource of another environment, which gets its name later
        return value


def check_array_size(array_size: int | None) -> list[Finding]:
    """Find whether AWS Batch takes an array of this size.

    Args:
        array_size: Jobs of the array. None for no array.
    """
    return [] if array_size is None else ARRAY_SIZE.check(array_size, path="array_size")
