"""Base class of the job constructs: roles, container, environment, retries, timeout and dependencies."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import jsii
from aws_cdk import Annotations, Aws, Duration, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.cluster_name import cluster_name
from ultracluster._foundation.log_group import write_statement
from ultracluster.images.container_image import ContainerImage, pull_image
from ultracluster.jobs.job_checks import check_job
from ultracluster.jobs.job_container import job_container
from ultracluster.jobs.job_environment import job_environment
from ultracluster.jobs.launcher import Launcher
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.scheduling.i_training_queue import ITrainingQueue, grant_submit
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.exit_codes import LOST_NODE
from ultracluster_catalog.names.identifiers import ECR_IMAGE
from ultracluster_catalog.names.submission_tags import AFTER_TAG, QUEUE_TAG, RESUME_TAG
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.findings import Finding, Severity, reject
from ultracluster_rules.images import check_container
from ultracluster_rules.numbers import rejects_unsafe_numbers


@jsii.implements(iam.IGrantable)
class Job(Construct):
    """Base class of the jobs: two roles, and the parts of a job definition that do not depend on its type."""

    depends_on: tuple["Job", ...]
    """Jobs that must succeed before this one starts; `ultracluster jobs submit` submits them first."""
    environment: Mapping[str, str]
    """Environment variables of the container."""
    execution_role: iam.IRole
    """Execution role, which pulls the image and writes the logs."""
    image: str
    """Reference of the container image."""
    job_definition_arn: str
    """ARN of the job definition, with its revision."""
    queue: ITrainingQueue
    """Queue of the job."""
    role: iam.IRole
    """Job role, which the training program assumes."""
    workers: int
    """Number of devices that the job computes on: one per process with torchrun."""

    _trains = True
    _on_several_nodes = False

    @rejects_unsafe_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: ITrainingQueue,
        node_count: int,
        image: str | ContainerImage,
        command: Sequence[str],
        compile_cache: CompileCache | PosixCompileCache | None = None,
        processes_per_node: int | None = None,
        neuron: NeuronSettings | None = None,
        environment: Mapping[str, str] | None = None,
        secrets: Mapping[str, batch.Secret] | None = None,
        timeout: Duration | None = None,
        attempts: int = 1,
        resume: int = 0,
        launcher: Launcher = "torchrun",
        depends_on: Sequence["Job"] = (),
        default_environment: Mapping[str, str] | None = None,
        findings: Sequence[Finding] = (),
        for_instance_type: InstanceType | None = None,
    ) -> None:
        """Validate the arguments that all jobs share, and define the roles.

        The parameters that users set are documented in `JobOptions`.

        Args:
            scope: Parent construct.
            construct_id: Construct ID; also the prefix of the log streams and the name of the job on the command line.
            queue: Queue of the job.
            node_count: Number of nodes.
            image: See `JobOptions`.
            command: See `JobOptions`.
            compile_cache: Compile cache to use. Default: none.
            processes_per_node: See `JobOptions`.
            neuron: See `JobOptions`.
            environment: See `JobOptions`.
            secrets: See `JobOptions`.
            timeout: See `JobOptions`.
            attempts: See `JobOptions`.
            resume: See `JobOptions`.
            launcher: See `JobOptions`.
            depends_on: See `JobOptions`.
            default_environment: Variables that this type of job sets unless `environment` does. Default: none.
            findings: Findings of the subclass; errors are raised, warnings become annotations. Default: none.
            for_instance_type: Instance type that Neuron settings are for. Default: that of the queue.

        Raises:
            FindingsError: With all errors among the findings and those of `check_job`.
        """
        variables = dict(environment or {})
        findings = [
            *findings,
            *check_job(
                queue=queue,
                command=command,
                launcher=launcher,
                processes_per_node=processes_per_node,
                environment=variables,
                secrets=secrets or {},
                attempts=attempts,
                resume=resume,
                neuron=neuron,
                depends_on=depends_on,
                compile_cache=compile_cache,
                machine=for_instance_type or queue.nodes.instance_type,
                image=image.reference if isinstance(image, ContainerImage) else image,
                timeout=timeout,
            ),
        ]
        reject([finding for finding in findings if finding.severity is Severity.ERROR])
        super().__init__(scope, construct_id)
        self.queue = queue
        self.image = image.reference if isinstance(image, ContainerImage) else image
        self._command = command
        self._launcher = launcher
        self._timeout = timeout
        self._attempts = attempts
        self._resume = resume
        self.depends_on = tuple(depends_on)
        tasks = iam.ServicePrincipal(
            "ecs-tasks.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
        )
        self.role = iam.Role(self, "Role", assumed_by=tasks, description="What the training program may do")
        if compile_cache is not None:
            compile_cache.grant_use(self.role)
        execution = [write_statement(queue.log_group)]
        if isinstance(image, str):
            execution += pull_image(self, image)
            _let_pull(queue, image)
        self.execution_role = iam.Role(
            self,
            "ExecutionRole",
            assumed_by=tasks,
            description="What AWS Batch does for the job: pull its image, write its logs",
            inline_policies={"Execution": iam.PolicyDocument(statements=execution)},
        )
        if isinstance(image, ContainerImage):
            image.grant_pull(self.execution_role)
        self._secrets = dict(secrets or {})
        for secret in self._secrets.values():
            secret.grant_read(self.execution_role)
        devices = _devices(queue, neuron)
        processes = devices if processes_per_node is None else processes_per_node
        self.workers = node_count * (processes if launcher == "torchrun" else devices)
        self.environment = job_environment(
            region=Stack.of(self).region,
            cluster=cluster_name(self),
            job=construct_id,
            machine=queue.nodes.instance_type,
            processes=processes if launcher == "torchrun" else 1,
            devices=devices if launcher == "jax" else None,
            cache=compile_cache.environment if compile_cache else {},
            neuron=neuron,
            overrides={**(default_environment or {}), **variables},
            trains=self._trains,
        )
        warnings = [*findings, *check_container(self.image, for_instance_type or queue.nodes.instance_type)]
        for dependency in depends_on:
            warnings += dependency._dependency_warnings(self)  # noqa: SLF001 - the same class
        for finding in warnings:
            Annotations.of(self).add_warning_v2(f"ultracluster:{finding.code}", str(finding))

    def _define(self, *, tags: Mapping[str, str] | None = None, **properties: Any) -> None:
        """Define the job definition, with the properties of its type."""
        dependencies = (
            {AFTER_TAG: " ".join(job.node.id for job in self.depends_on)} if self.depends_on else {}
        )
        resume = {RESUME_TAG: str(self._resume)} if self._resume else {}
        same_stack = Stack.of(self.queue) is Stack.of(self)
        # `ultracluster jobs submit` finds the queue by it, where the stack of the job has none.
        has_queue = same_stack and not self.queue.is_imported
        queue = {} if has_queue else {QUEUE_TAG: self.queue.job_queue_arn}
        # Status reason when the instance is lost or reclaimed.
        retries = [
            batch.CfnJobDefinition.EvaluateOnExitProperty(action="RETRY", on_status_reason="Host EC2*")
        ]
        if self._on_several_nodes and self._attempts > 1:
            # AWS Batch does not retry a job that lost a node other than the main one; the launcher reports it by this exit code.
            lost = str(LOST_NODE)
            retries += [batch.CfnJobDefinition.EvaluateOnExitProperty(action="RETRY", on_exit_code=lost)]
        definition = batch.CfnJobDefinition(
            self,
            "Resource",
            retry_strategy=batch.CfnJobDefinition.RetryStrategyProperty(
                attempts=self._attempts,
                evaluate_on_exit=[
                    *retries,
                    batch.CfnJobDefinition.EvaluateOnExitProperty(action="EXIT", on_reason="*"),
                ],
            ),
            timeout=(
                batch.CfnJobDefinition.TimeoutProperty(attempt_duration_seconds=self._timeout.to_seconds())
                if self._timeout
                else None
            ),
            # AWS Batch rejects jobs without a priority on a queue with shares (nextflow#3505), and with one on others.
            scheduling_priority=0 if self.queue.has_shares else None,
            tags={**dependencies, **resume, **queue, **(tags or {})} or None,
            **properties,
        )
        self.job_definition_arn = definition.ref
        if same_stack:  # otherwise the stack of the queue would depend on that of the job
            self.queue.add_job_definition(definition.ref)

    def _container(
        self, command: Sequence[str], *, instance_type: str | None = None
    ) -> batch.CfnJobDefinition.ContainerPropertiesProperty:
        return job_container(
            queue=self.queue,
            image=self.image,
            command=command,
            environment=self.environment,
            secrets={name: secret.arn for name, secret in self._secrets.items()},
            role_arn=self.role.role_arn,
            execution_role_arn=self.execution_role.role_arn,
            log_stream_prefix=self.node.id,
            instance_type=instance_type,
        )

    def grant_submit(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to submit this job to its queue, and to tag it.

        Args:
            grantee: Principal to grant permissions to.
        """
        return grant_submit(grantee, self.queue.job_queue_arn, [self.job_definition_arn])

    def _dependency_warnings(self, dependent: "Job") -> list[Finding]:  # noqa: ARG002 - for subclasses to override
        """Return warnings about a job that depends on this one."""
        return []

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Job role."""
        return self.role


def _let_pull(queue: ITrainingQueue, image: str) -> None:
    """Allow the endpoints of the nodes to pull an image of another account."""
    repository = re.fullmatch(ECR_IMAGE, image)
    if repository and isinstance(queue.nodes, NodeGroup) and queue.nodes.network.endpoint_policies:
        queue.nodes.network.endpoint_policies.allow_registry(repository["account"])


def _devices(queue: ITrainingQueue, neuron: NeuronSettings | None) -> int:
    machine = queue.nodes.instance_type
    cores = neuron.processes_per_node(machine) if neuron else machine.logical_neuron_cores
    return cores or machine.chips
