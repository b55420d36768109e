"""Base class of the job constructs: roles, container, environment, retries, timeout and dependencies."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Unpack

import jsii
from aws_cdk import Aws, Duration, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_ssm as ssm
from constructs import Construct, IValidation

from ultracluster._foundation.annotations import warn
from ultracluster._foundation.cluster_name import cluster_name
from ultracluster._foundation.log_group import write_statement
from ultracluster._foundation.metric_options import MetricOptions
from ultracluster._foundation.permissions import extend_role, never
from ultracluster._foundation.synthesis_check import check_at_synthesis
from ultracluster.images.container_image import bind_image, image_of, pull_image
from ultracluster.jobs.job_checks import check_job
from ultracluster.jobs.job_options import JobOptions
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.nodes.node_metrics import cluster_metric
from ultracluster.scheduling.i_training_queue import ITrainingQueue, grant_submit
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.peak_flops import node_peak_tflops
from ultracluster_catalog.names.identifiers import ECR_IMAGE
from ultracluster_catalog.names.launcher import LOST_NODE
from ultracluster_catalog.names.submission_tags import AFTER_TAG, QUEUE_TAG, RESUME_TAG
from ultracluster_catalog.neuron.neuron import XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.container import NOTICES_FOLDER, job_environment
from ultracluster_spec.findings import Finding, reject
from ultracluster_spec.images import check_container, check_integer_defaults
from ultracluster_spec.job import Job, Mount, Statement
from ultracluster_spec.job_definitions import DEVICES_VARIABLE, PROCESSES_VARIABLE, refuse_resume
from ultracluster_spec.neuron import Neuron
from ultracluster_spec.record import is_error
from ultracluster_spec.records import RECORDS

# From AWS's multi-node template for p6 on AWS Batch (awslabs/awsome-distributed-ai, 2026-07-23).
_SHARED_MEMORY_MIB: Final = 49152
# Bytes, and open files as on the node (node-boot.sh); the stack is that of the same template.
_LIMITS: Final = {"memlock": -1, "stack": 67108864, "nofile": 1048576}


@jsii.implements(iam.IGrantable)
class ClusterJob(Construct):
    """Base class of the jobs: two roles, and the parts of a job definition that do not depend on its type."""

    depends_on: tuple["ClusterJob", ...]
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

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        job: Job,
        *,
        kind: str,
        attempts: int,
        queue: ITrainingQueue,
        node_count: int,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        default_environment: Mapping[str, str] | None = None,
        findings: Sequence[Finding] = (),
        for_instance_type: InstanceType | None = None,
        **options: Unpack[JobOptions],
    ) -> None:
        """Validate the arguments that all jobs share, and define the roles.

        Args:
            construct_id: Construct ID; also the prefix of the log streams and the name of the job on the command line.
            job: Description of the job.
            kind: Kind of the job, as in a rollout file.
            attempts: Number of attempts unless the description has one.
            queue: Queue of the job.
            node_count: Number of nodes.
            compile_cache: Compile cache to use. Default: none.
            default_environment: Variables that this type of job sets unless `environment` does. Default: none.
            findings: Findings of the subclass; errors are raised, warnings become annotations. Default: none.
            for_instance_type: Instance type that Neuron settings are for. Default: that of the queue.
            **options: Arguments of `JobOptions`.

        Raises:
            FindingsError: With all errors among the findings and those of `check_job`.
        """
        node_type = for_instance_type or queue.nodes.instance_type
        # Overrides win, except that compiler flags are merged.
        variables = job_environment(
            job.neuron,
            queue.nodes.instance_type,
            given={**(default_environment or {}), **job.environment},
            cache=compile_cache.environment if compile_cache else {},
        )
        findings = [
            *findings,
            *check_job(
                queue,
                job,
                options,
                kind=kind,
                compile_cache=compile_cache,
                node_type=node_type,
                node_count=node_count,
                variables=variables,
            ),
            *_check_resume(job, queue, scope),
        ]
        reject([finding for finding in findings if is_error(finding, RECORDS)])
        super().__init__(scope, construct_id)
        check_at_synthesis(self)
        image = image_of(options.get("image") or job.image or "")  # one of them is there: `check_job`
        hours = Duration.hours(job.timeout_hours) if job.timeout_hours else None
        self._job = job
        self._attempts = attempts if job.attempts is None else job.attempts
        self._timeout = options.get("timeout") or hours
        self.queue = queue
        self._cluster_name = cluster_name(self if queue.is_imported else queue)
        self.depends_on = tuple(options.get("depends_on", ()))
        self.role = self._define_job_role(options.get("job_role"), compile_cache)
        self.execution_role = self._define_execution_role(options.get("execution_role"), image)
        self.image, self._credentials = (
            (image, None) if isinstance(image, str) else bind_image(self, image, self.execution_role)
        )
        _let_pull(queue, self.image)
        self._secrets = self._define_secrets(options.get("secrets") or {})
        devices = _devices(queue, job.neuron)
        processes = devices if job.processes_per_node is None else job.processes_per_node
        self.workers = node_count * (processes if job.launcher == "torchrun" else devices)
        self.environment = {**self._program_environment(devices, processes), **variables}
        flags = self.environment.get(XLA_COMPILER_FLAGS_VARIABLE, "")
        integers = check_integer_defaults(self.image, flags) if node_type.is_neuron else ()
        of_image = (*check_container(self.image, node_type), *integers)
        warn(self, *findings, *of_image, *self._warnings_of_dependencies())

    def _define_job_role(
        self, given: iam.IRole | None, compile_cache: CompileCache | PosixCompileCache | None
    ) -> iam.IRole:
        role = self._role(
            "Role",
            given,
            path="job_role",
            policy_name="Never",
            description="What the training program may do",
            statements=[never()],
        )
        if compile_cache is not None:
            compile_cache.grant_use(role)
        for statement in (*_mount_statements(self._job.mounts), *self._job.permissions.statements):
            role.add_to_principal_policy(
                iam.PolicyStatement(actions=list(statement.actions), resources=list(statement.resources))
            )
        for index, arn in enumerate(self._job.permissions.managed_policy_arns, start=1):
            role.add_managed_policy(iam.ManagedPolicy.from_managed_policy_arn(self, f"Policy{index}", arn))
        return role

    def _define_execution_role(self, given: iam.IRole | None, image: object) -> iam.IRole:
        statements = [write_statement(self.queue.log_group)]
        if isinstance(image, str):
            statements += pull_image(self, image)
        return self._role(
            "ExecutionRole",
            given,
            path="execution_role",
            policy_name="Execution",
            description="What AWS Batch does for the job: pull its image, write its logs",
            statements=[*statements, never()],
        )

    def _define_secrets(self, given: Mapping[str, batch.Secret]) -> Mapping[str, batch.Secret]:
        named = {name: _secret(self, f"Secret-{name}", arn) for name, arn in self._job.secrets.items()}
        secrets = {**named, **given}
        for secret in secrets.values():
            secret.grant_read(self.execution_role)
        return secrets

    def _program_environment(self, devices: int, processes: int) -> dict[str, str]:
        """Return the variables that a training program and its launcher read."""
        region = Stack.of(self).region
        program = {
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            "UC_CLUSTER": self._cluster_name,
            "UC_JOB": self.node.id,
            **_peak(self.queue.nodes.instance_type),
            PROCESSES_VARIABLE: str(processes if self._job.launcher == "torchrun" else 1),
        }
        return {
            **(program if self._trains else {}),
            **({DEVICES_VARIABLE: str(devices)} if self._job.launcher == "jax" else {}),
        }

    def _warnings_of_dependencies(self) -> Iterator[Finding]:
        for dependency in self.depends_on:
            yield from dependency._dependency_warnings(self)  # noqa: SLF001 - the same class

    def _role(
        self,
        construct_id: str,
        given: iam.IRole | None,
        *,
        path: str,
        policy_name: str,
        description: str,
        statements: Sequence[iam.PolicyStatement],
    ) -> iam.IRole:
        """Define a role with permissions, or add them to the one that is passed in."""
        if given is not None:
            role, warnings = extend_role(self, f"Imported{construct_id}", given, statements, path=path)
            warn(self, *warnings)
            return role
        return iam.Role(
            self,
            construct_id,
            assumed_by=iam.ServicePrincipal(
                "ecs-tasks.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
            description=description,
            inline_policies={policy_name: iam.PolicyDocument(statements=list(statements))},
        )

    def _define(self, *, tags: Mapping[str, str] | None = None, **properties: Any) -> None:
        """Define the job definition, with the properties of its type."""
        dependencies = (
            {AFTER_TAG: " ".join(job.node.id for job in self.depends_on)} if self.depends_on else {}
        )
        resume = {RESUME_TAG: str(self._job.resume)} if self._job.resume else {}
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
        if self._job.resume:
            self.queue.add_resumable(definition.ref)
            self.node.add_validation(_Resumes(self))

    def _container(
        self, command: Sequence[str], *, instance_type: str | None = None
    ) -> batch.CfnJobDefinition.ContainerPropertiesProperty:
        """Return the container properties of the job, which occupies a whole node; only multi-node jobs need `instance_type`.

        Devices are listed one by one: mapping the whole of ``/dev/infiniband`` silently disables EFA on hosts that have other
        devices in it (aws-samples/aws-do-eks#63). The container is not privileged.
        """
        nodes = self.queue.nodes
        node_type = nodes.instance_type
        # Folders of the node and in the container, by the name of the volume.
        mounts = {"notices": Mount(source=NOTICES_FOLDER, read_only=True)}
        if nodes.file_system is not None:
            mounts = {"file-system": Mount(source=nodes.file_system.mount_path), **mounts}
        if nodes.scratch_path is not None:
            mounts["scratch"] = Mount(source=nodes.scratch_path)
        mounts |= {f"mount-{index}": mount for index, mount in enumerate(self._job.mounts, start=1)}
        requirements = {"VCPU": node_type.vcpus, "MEMORY": node_type.container_memory_mib}
        if (
            node_type.gpus
        ):  # AWS Batch assigns GPUs; Neuron devices, for which it has no requirement, are listed below
            requirements["GPU"] = node_type.gpus
        return batch.CfnJobDefinition.ContainerPropertiesProperty(
            image=self.image,
            repository_credentials=self._credentials,
            instance_type=instance_type,
            command=list(command),
            environment=[
                batch.CfnJobDefinition.EnvironmentProperty(name=name, value=value)
                for name, value in sorted(self.environment.items())
            ],
            secrets=[
                batch.CfnJobDefinition.SecretProperty(name=name, value_from=secret.arn)
                for name, secret in sorted(self._secrets.items())
            ]
            or None,
            job_role_arn=self.role.role_arn,
            execution_role_arn=self.execution_role.role_arn,
            resource_requirements=[
                batch.CfnJobDefinition.ResourceRequirementProperty(type=kind, value=str(amount))
                for kind, amount in requirements.items()
            ],
            linux_parameters=batch.CfnJobDefinition.LinuxParametersProperty(
                devices=[
                    batch.CfnJobDefinition.DeviceProperty(
                        host_path=path, container_path=path, permissions=["READ", "WRITE", "MKNOD"]
                    )
                    for path in (*node_type.neuron_devices, *nodes.efa_devices)
                ],
                shared_memory_size=self._job.shared_memory_mib
                or min(_SHARED_MEMORY_MIB, node_type.container_memory_mib // 4),
                init_process_enabled=True,
            ),
            ulimits=[
                batch.CfnJobDefinition.UlimitProperty(name=name, soft_limit=limit, hard_limit=limit)
                for name, limit in {**_LIMITS, **self._job.ulimits}.items()
            ],
            volumes=[
                batch.CfnJobDefinition.VolumesProperty(name=name, **_source(mount))
                for name, mount in mounts.items()
            ],
            mount_points=[
                batch.CfnJobDefinition.MountPointsProperty(
                    source_volume=name, container_path=mount.inside, read_only=mount.read_only
                )
                for name, mount in mounts.items()
            ],
            log_configuration=batch.CfnJobDefinition.LogConfigurationProperty(
                log_driver="awslogs",
                options={
                    "awslogs-group": self.queue.log_group_name,
                    "awslogs-region": Stack.of(self.queue).region,
                    "awslogs-stream-prefix": self.node.id,
                },
            ),
        )

    @validate_arguments
    def grant_submit(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to submit this job to its queue, and to tag it.

        Args:
            grantee: Principal to grant permissions to.
        """
        return grant_submit(grantee, self.queue.job_queue_arn, [self.job_definition_arn])

    @validate_arguments
    def metric(self, metric_name: str, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return a metric of the training programs of this job.

        Args:
            metric_name: One of `ultracluster_catalog.METRICS` with the source ``training``, such as ``Loss``.
            **options: Arguments of `MetricOptions`, such as ``period``. The default statistic is the average.

        Raises:
            FindingsError: If there is no such metric (UC6442).
        """
        return cluster_metric(self._cluster_name, metric_name, job=self.node.id, **options)

    def metric_loss(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the loss of the steps; `**options` as for `metric`."""
        return self.metric("Loss", **options)

    def metric_tokens_per_second(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the tokens of all ranks in a second; `**options` as for `metric`."""
        return self.metric("TokensPerSecond", **options)

    def _dependency_warnings(self, dependent: "ClusterJob") -> list[Finding]:  # noqa: ARG002 - for subclasses to override
        """Return warnings about a job that depends on this one."""
        return []

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Job role."""
        return self.role


def _source(mount: Mount) -> dict[str, Any]:
    """Return what a volume shows: a folder of the node, or S3 Files."""
    arn = mount.file_system_arn
    if arn is None:
        return {"host": batch.CfnJobDefinition.VolumesHostProperty(source_path=mount.source)}
    point = None if mount.source == arn else mount.source
    return {
        "s3_files_volume_configuration": batch.CfnJobDefinition.S3FilesVolumeConfigurationProperty(
            file_system_arn=arn, access_point_arn=point
        )
    }


def _mount_statements(mounts: Sequence[Mount]) -> Iterator[Statement]:
    """Yield what a job needs to mount S3 Files.

    Objects without an owner are root's, as which containers run, and an access point has a user of its own (Amazon S3 User
    Guide, How S3 Files works with IAM and POSIX permissions, 2026-10).
    """
    for mount in mounts:
        if arn := mount.file_system_arn:
            writes = () if mount.read_only else ("s3files:ClientWrite",)
            root = ("s3files:ClientRootAccess",) if writes and mount.source == arn else ()
            yield Statement(actions=("s3files:ClientMount", *writes, *root), resources=(arn,))


def _check_resume(job: Job, queue: ITrainingQueue, scope: Construct) -> list[Finding]:
    """Check that the function that submits a job again is in the stack of the job."""
    if not job.resume or queue.is_imported or Stack.of(queue) is Stack.of(scope):
        return []
    return [finding.at("resume") for finding in refuse_resume("a job in another stack than its queue")]


@jsii.implements(IValidation)
class _Resumes:
    """What is wrong at synthesis with a job that is to be submitted again: a function may be defined after it."""

    def __init__(self, job: ClusterJob) -> None:
        self._job = job

    def validate(self) -> list[str]:
        """Return the finding, if nothing submits the job again."""
        if self._job.queue.resumes:
            return []
        remedy = "Define JobResume(queue=...) for its queue, or remove resume"
        found = refuse_resume("a job on a queue without a cluster", remedy=remedy)
        return [str(finding.at("resume")) for finding in found]


def _let_pull(queue: ITrainingQueue, image: str) -> None:
    """Allow the endpoints of the nodes to pull an image of another account."""
    repository = re.fullmatch(ECR_IMAGE, image)
    if repository and isinstance(queue.nodes, NodeGroup) and queue.nodes.network.endpoint_policies:
        queue.nodes.network.endpoint_policies.allow_registry(repository["account"])


def _secret(scope: Construct, construct_id: str, arn: str) -> batch.Secret:
    """Return a secret by its ARN, which `:KEY::` can follow, or a parameter."""
    if ":ssm:" in arn:
        return batch.Secret.from_ssm_parameter(
            ssm.StringParameter.from_string_parameter_arn(scope, construct_id, arn)
        )
    whole = ":".join(arn.split(":")[:7])
    secret = secretsmanager.Secret.from_secret_complete_arn(scope, construct_id, whole)
    return batch.Secret.from_secrets_manager(secret, arn.removeprefix(whole).strip(":") or None)


def _devices(queue: ITrainingQueue, neuron: Neuron) -> int:
    node_type = queue.nodes.instance_type
    cores = neuron.processes_per_node(node_type)
    return cores or node_type.chips


def _peak(node_type: InstanceType) -> dict[str, str]:
    """Return the variable with the peak FLOPS that model utilisation is measured against, if they are known."""
    figures = node_peak_tflops(node_type)
    peak = ",".join(f"{name}:{figure:g}" for name, figure in figures.items())
    return {"UC_PEAK_TFLOPS": peak} if figures else {}
