"""Validation of the arguments that all jobs share."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from aws_cdk import Duration, Stack
from constructs import Construct

from ultracluster._foundation.tokens import check_known
from ultracluster.images.container_image import AnyContainerImage, check_reference, image_of, reference_of
from ultracluster.jobs.job_options import JobOptions
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_spec import job_definitions, rules
from ultracluster_spec.buckets import refuse_unmounted_cache
from ultracluster_spec.container import (
    JOB_RULES,
    Container,
    folders_of_jobs,
    setting_behind,
)
from ultracluster_spec.credentials import (
    command_credential,
    credential_kind,
    job_credential,
    variable_credential,
)
from ultracluster_spec.findings import Finding, collect, is_token, require
from ultracluster_spec.job import PERMISSION_RULES, Job, check_kind, check_room, container_of
from ultracluster_spec.job_definitions import IMAGE_REFERENCE
from ultracluster_spec.neuron import check_neuron
from ultracluster_spec.rules import broken, path_text
from ultracluster_spec.values import wrong_types

# Dynamic references that CloudFormation replaces with a secret; the third kind, ssm, reads plain parameters.
_READS_SECRET = re.compile(r"\{\{resolve:(?:secretsmanager|ssm-secure):")


def check_types(job: Job) -> list[Finding]:
    """Check the types of the fields of a job, which takes objects of the CDK as arguments of the construct only."""
    return [
        replace(finding, remedy=f"Pass objects beside the Job: add_multi_node_job(ID, Job(...), {name}=...)")
        if (name := finding.path.partition(".")[0]) in JobOptions.__annotations__
        else finding
        for finding in wrong_types(job)
    ]


def check_job(
    queue: ITrainingQueue,
    job: Job,
    options: JobOptions,
    *,
    kind: str,
    compile_cache: CompileCache | PosixCompileCache | None,
    node_type: InstanceType,
    node_count: int,
    variables: Mapping[str, str],
) -> list[Finding]:
    """Check the arguments of a job.

    Args:
        queue: Queue of the job.
        job: Description of the job.
        options: Its other arguments.
        kind: Kind of the job, as in a rollout file.
        compile_cache: Compile cache to use; None without one.
        node_type: Instance type that its Neuron settings are for.
        node_count: Number of nodes.
        variables: All variables of its container, except those of the job itself.
    """
    environment, secrets = job.environment, options.get("secrets") or {}
    # The environment and Neuron settings have rules of their own, which know tokens and the type of the nodes.
    findings = check_known(job.without({"environment", "neuron"}))
    findings += check_kind(job, kind)
    findings += [
        finding.at(f"permissions.{finding.path}")
        for finding in rules.findings(PERMISSION_RULES, job.permissions)
    ]
    findings += job_definitions.check_launcher(job.launcher, job.processes_per_node, job.command)
    findings += job_definitions.check_variables(environment, path="environment.")
    for given, others in ((secrets, {**environment, **job.secrets}), (job.secrets, environment)):
        findings += job_definitions.check_secrets(
            given,
            others,
            # The ARN of a secret of the same stack is a token, that of a parameter has its service in it.
            in_secrets_manager=[
                name
                for name, secret in given.items()
                if ":ssm:" not in (secret if isinstance(secret, str) else secret.arn)
            ],
            services=queue.nodes.network.services if isinstance(queue.nodes, NodeGroup) else None,
            path="secrets",
        )
    findings += check_room(job, queue.nodes.instance_type, _folders(queue))
    container = _container(
        queue, job, options, node_type=node_type, node_count=node_count, variables=variables
    )
    for place, finding in broken(JOB_RULES, container):
        findings.append(finding.at(path_text(setting_behind(place, environment))))
    findings += _check_credentials(queue, environment, job.command)
    findings += check_neuron(job.neuron, node_type, environment)
    findings += _check_image(job, options.get("image"))
    findings += _check_timeout(job, options.get("timeout"))
    resume = job.resume
    if resume and queue.is_imported:
        findings += [
            finding.at("resume") for finding in job_definitions.refuse_resume("a job on an imported queue")
        ]
    if isinstance(compile_cache, PosixCompileCache) and compile_cache.file_system != queue.nodes.file_system:
        findings.append(refuse_unmounted_cache(compile_cache.path))
    names = [job.node.id for job in options.get("depends_on", ())]
    findings += job_definitions.check_dependencies(names, path="depends_on")
    return findings + [
        finding.at("depends_on")
        for index, name in enumerate(names)
        for finding in job_definitions.check_dependency(name, earlier=names[:index], known=None)
    ]


def _check_image(job: Job, image: AnyContainerImage | None) -> list[Finding]:
    code = IMAGE_REFERENCE.code
    if image is not None and job.image is not None:
        return [Finding(code, "the job has two images", remedy="Leave out `Job.image`", path="image")]
    if image is not None:
        found: list[Finding] = []
        given = collect(found, lambda: image_of(image))
        return found if given is None else check_reference(given)
    remedy = "Set `Job.image`, or pass a ContainerImage as image"
    return require(job.image is not None, code, "the job has no image", remedy=remedy, path="image")


def _check_timeout(job: Job, timeout: Duration | None) -> Iterator[Finding]:
    if timeout is None or timeout.is_unresolved():
        return
    if job.timeout_hours is not None:
        code, remedy = job_definitions.ATTEMPTS.code, "Leave out `Job.timeout_hours`"
        yield Finding(code, "the job has two timeouts", remedy=remedy, path="timeout")
    seconds = int(timeout.to_seconds(integral=False))
    yield from (finding.at("timeout") for finding in job_definitions.check_timeout_seconds(seconds))


def _folders(queue: ITrainingQueue) -> dict[str, bool]:
    system = queue.nodes.file_system
    return folders_of_jobs(system.mount_path if system else None, queue.nodes.scratch_path)


def _container(
    queue: ITrainingQueue,
    job: Job,
    options: JobOptions,
    *,
    node_type: InstanceType,
    node_count: int,
    variables: Mapping[str, str],
) -> Container:
    nodes, image = queue.nodes, options.get("image")
    node = nodes.instance_type
    return container_of(
        job,
        node,
        node_type,
        environment={name: None if is_token(text) else text for name, text in variables.items()},
        node_count=node_count,
        devices=(*node.neuron_devices, *nodes.efa_devices),
        folders=_folders(queue),
        image=reference_of(image or job.image or ""),
        secrets={
            **job.secrets,
            **{name: secret.arn for name, secret in (options.get("secrets") or {}).items()},
        },
        meets=node_count > 1 and not queue.is_managed,
    )


def _check_credentials(
    scope: Construct, environment: Mapping[str, str], command: Sequence[str]
) -> Iterator[Finding]:
    """Check for credentials, which every principal that may describe the job definition could read."""
    texts = [(f"environment.{name}", name, value) for name, value in environment.items()]
    texts += [(f"command[{index}]", "", value) for index, value in enumerate(command)]
    for path, name, value in texts:
        text = _template_text(scope, value)
        if _READS_SECRET.search(text):
            yield job_credential("CloudFormation would write the secret itself into the job definition", path)
        elif problem := variable_credential(name, text):
            yield job_credential(problem, path)
    if (problem := command_credential(command)) and not any(map(credential_kind, command)):
        yield job_credential(problem, "command")


def _template_text(scope: Construct, value: str) -> str:
    """Return a value as it will appear in the template, as far as it is known at synthesis."""
    # Checked in Python, because resolving every variable through jsii would take longer than the rest of the job.
    if not is_token(value):
        return value
    try:
        return str(Stack.of(scope).resolve(value))
    except RuntimeError:  # for example a resource of another environment, whose physical name is not set yet
        return value
