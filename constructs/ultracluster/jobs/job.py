"""What every job of a queue has in common: its roles, container, environment, retries, timeout and dependencies."""

from collections.abc import Mapping, Sequence
from typing import Any

import jsii
from aws_cdk import Annotations, Aws, Duration, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.cluster_name import cluster_name
from ultracluster._foundation.log_group import write_statement
from ultracluster.images.container_image import ContainerImage
from ultracluster.images.image_pull import pull_image
from ultracluster.jobs.job_checks import check_job
from ultracluster.jobs.job_container import job_container
from ultracluster.jobs.job_environment import job_environment
from ultracluster.jobs.launcher import Launcher
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.names.submission_tags import AFTER_TAG
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.findings import Finding, FindingsError, Severity
from ultracluster_rules.images import check_container

__all__ = ["Job"]


@jsii.implements(iam.IGrantable)
class Job(Construct):
    """The base of the jobs: two roles, and the parts of a job definition that do not depend on its type."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: TrainingQueue,
        image: str | ContainerImage,
        command: Sequence[str],
        node_count: int,
        processes_per_node: int | None,
        launcher: Launcher,
        compile_cache: CompileCache | PosixCompileCache | None,
        neuron: NeuronSettings | None,
        environment: Mapping[str, str] | None,
        attempts: int,
        after: Sequence["Job"],
        own_environment: Mapping[str, str] | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        """Check what every job has, and define the roles.

        Args:
            scope: Where to add it.
            construct_id: Its id there, which is also how its log streams begin and what the command line calls it.
            queue: Queue that the job is meant for.
            image: Container image.
            command: Program and arguments that the launcher starts.
            node_count: Nodes of the job.
            processes_per_node: Processes on each node; None for one for each logical NeuronCore or GPU.
            launcher: What starts them; another one than torchrun starts one process for all devices.
            compile_cache: Compile cache to use; None for none.
            neuron: Settings of compiler and runtime; None for their defaults.
            environment: Variables that the user gave; None for none.
            attempts: How often the job is started when its host is lost.
            after: Jobs that have to succeed before.
            own_environment: Variables of this type of job; those of the user come first. Default: none.
            findings: What its type found in its arguments: errors stop, warnings are shown. Default: nothing.

        Raises:
            FindingsError: With all errors among the findings and those of `check_job`.
        """
        given = dict(environment or {})
        findings = [
            *findings,
            *check_job(
                queue=queue,
                command=command,
                launcher=launcher,
                processes_per_node=processes_per_node,
                environment=given,
                attempts=attempts,
                neuron=neuron,
                after=after,
                compile_cache=compile_cache,
            ),
        ]
        if errors := [finding for finding in findings if finding.severity is Severity.ERROR]:
            raise FindingsError(errors)
        super().__init__(scope, construct_id)
        self._queue = queue
        self._image = image.reference if isinstance(image, ContainerImage) else image
        self._attempts = attempts
        self._after = tuple(after)
        tasks = iam.ServicePrincipal(
            "ecs-tasks.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
        )
        self._role = iam.Role(self, "Role", assumed_by=tasks, description="What the training program may do")
        if compile_cache is not None:
            compile_cache.grant_use(self._role)
        execution = [write_statement(queue.log_group)]
        if isinstance(image, str):
            execution += pull_image(self, image)
        self._execution_role = iam.Role(
            self,
            "ExecutionRole",
            assumed_by=tasks,
            description="What AWS Batch does for the job: pull its image, write its logs",
            inline_policies={"Execution": iam.PolicyDocument(statements=execution)},
        )
        if isinstance(image, ContainerImage):
            image.grant_pull(self._execution_role)
        devices = _devices(queue, neuron)
        processes = devices if processes_per_node is None else processes_per_node
        self._workers = node_count * (processes if launcher == "torchrun" else devices)
        self._environment = job_environment(
            region=Stack.of(self).region,
            cluster=cluster_name(self),
            job=construct_id,
            machine=queue.nodes.instance_type,
            processes=processes if launcher == "torchrun" else 1,
            devices=devices if launcher == "jax" else None,
            cache=compile_cache.environment if compile_cache else {},
            neuron=neuron,
            given={**(own_environment or {}), **given},
        )
        doubts = [doubt for other in after for doubt in other.doubts_about(self)]
        images = check_container(self._image, queue.nodes.instance_type)
        for finding in (*findings, *images, *doubts):
            Annotations.of(self).add_warning_v2(f"ultracluster:{finding.code}", str(finding))

    def _define(
        self,
        *,
        timeout: Duration | None,
        tags: Mapping[str, str] | None = None,
        **properties: Any,
    ) -> None:
        """Define the job definition itself; `properties` are those of its type."""
        waits = {AFTER_TAG: " ".join(job.node.id for job in self._after)} if self._after else {}
        definition = batch.CfnJobDefinition(
            self,
            "Resource",
            retry_strategy=batch.CfnJobDefinition.RetryStrategyProperty(
                attempts=self._attempts,
                evaluate_on_exit=[
                    # How the reason begins when an instance is gone, reclaimed Spot instances included.
                    batch.CfnJobDefinition.EvaluateOnExitProperty(
                        action="RETRY", on_status_reason="Host EC2*"
                    ),
                    batch.CfnJobDefinition.EvaluateOnExitProperty(action="EXIT", on_reason="*"),
                ],
            ),
            timeout=(
                batch.CfnJobDefinition.TimeoutProperty(attempt_duration_seconds=timeout.to_seconds())
                if timeout
                else None
            ),
            # AWS Batch refuses jobs without a priority on a queue with shares (nextflow#3505), and with one on others.
            scheduling_priority=0 if self._queue.has_shares else None,
            tags={**waits, **(tags or {})} or None,
            **properties,
        )
        self._job_definition_arn = definition.ref

    def _container(
        self, command: Sequence[str], *, instance_type: str | None = None
    ) -> batch.CfnJobDefinition.ContainerPropertiesProperty:
        return job_container(
            queue=self._queue,
            image=self._image,
            command=command,
            environment=self._environment,
            role_arn=self._role.role_arn,
            execution_role_arn=self._execution_role.role_arn,
            log_stream_prefix=self.node.id,
            instance_type=instance_type,
        )

    def doubts_about(self, job: "Job") -> list[Finding]:  # noqa: ARG002 - kinds of jobs that have doubts override it
        """Find what is doubtful when another job waits for this one.

        Args:
            job: The job that waits.
        """
        return []

    @property
    def after(self) -> tuple["Job", ...]:
        """Jobs that have to succeed before this one starts; `ultracluster jobs submit` submits them first."""
        return self._after

    @property
    def environment(self) -> Mapping[str, str]:
        """All variables of the container."""
        return self._environment

    @property
    def execution_role(self) -> iam.IRole:
        """Role that pulls the image and writes the logs."""
        return self._execution_role

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The job role."""
        return self._role

    @property
    def image(self) -> str:
        """Reference of the container image."""
        return self._image

    @property
    def job_definition_arn(self) -> str:
        """ARN of the job definition, with its revision."""
        return self._job_definition_arn

    @property
    def queue(self) -> TrainingQueue:
        """Queue that the job is meant for."""
        return self._queue

    @property
    def role(self) -> iam.IRole:
        """Role of the training program."""
        return self._role

    @property
    def workers(self) -> int:
        """Devices that the whole job computes with: one for each process of torchrun."""
        return self._workers


def _devices(queue: TrainingQueue, neuron: NeuronSettings | None) -> int:
    machine = queue.nodes.instance_type
    cores = neuron.processes_per_node(machine) if neuron else machine.logical_neuron_cores
    return cores or machine.chips
