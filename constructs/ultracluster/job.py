"""What every job of a queue has in common: its roles, container, environment, retries and timeout."""

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Literal

import jsii
from aws_cdk import Annotations, Aws, Duration, Stack, Token
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.compile_cache import CompileCache
from ultracluster.job_container import job_container
from ultracluster.training_queue import TrainingQueue
from ultracluster_catalog.findings import Finding, quote

__all__ = ["Job", "Launcher", "check_job", "job_processes", "launch_command"]

_ECR_IMAGE = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/(?P<repository>[^:@]+)"
)

_MOST_ATTEMPTS = 10

Launcher = Literal["torchrun", "jax", "raw"]
"""What starts the command on a node: torchrun, or nothing but what JAX or another program must know of its place."""


@jsii.implements(iam.IGrantable)
class Job(Construct):
    """The base of the jobs: two roles, and the parts of a job definition that do not depend on its type."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: TrainingQueue,
        image: str,
        compile_cache: CompileCache | None,
    ) -> None:
        """Define the roles.

        Args:
            scope: Where to add it.
            construct_id: Its id there, which is also how its log streams begin.
            queue: Queue that the job is meant for.
            image: Container image.
            compile_cache: Compile cache to use; None for none.
        """
        super().__init__(scope, construct_id)
        self._queue = queue
        self._image = image
        self._compile_cache = compile_cache
        self._role = self._define_role()
        self._execution_role = self._define_execution_role()
        if compile_cache is not None:
            compile_cache.grant_use(self._role)

    def _define(self, *, attempts: int, timeout: Duration | None, **properties: Any) -> None:
        """Define the job definition itself; `properties` are those of its type."""
        definition = batch.CfnJobDefinition(
            self,
            "Resource",
            retry_strategy=batch.CfnJobDefinition.RetryStrategyProperty(
                attempts=attempts,
                evaluate_on_exit=[
                    # How AWS Batch begins the reason when an instance is gone, which covers Spot interruptions.
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
            **properties,
        )
        self._job_definition_arn = definition.ref
        self.node.default_child = definition

    def _container(
        self, command: Sequence[str], environment: Mapping[str, str]
    ) -> batch.CfnJobDefinition.ContainerPropertiesProperty:
        return job_container(
            queue=self._queue,
            image=self._image,
            command=command,
            environment=environment,
            role=self._role,
            execution_role=self._execution_role,
            log_stream_prefix=self.node.id,
        )

    def _environment(self, given: Mapping[str, str], *, processes: int) -> dict[str, str]:
        region = Stack.of(self).region
        cache = dict(self._compile_cache.environment) if self._compile_cache else {}
        if "NEURON_CC_FLAGS" in cache and "NEURON_CC_FLAGS" in given:
            given = {**given, "NEURON_CC_FLAGS": f"{cache['NEURON_CC_FLAGS']} {given['NEURON_CC_FLAGS']}"}
        return {
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            "FI_PROVIDER": "efa",
            "FI_EFA_USE_DEVICE_RDMA": "1",
            "UC_PROCESSES_PER_NODE": str(processes),
            **cache,
            **given,
        }

    def _define_role(self) -> iam.Role:
        return iam.Role(
            self,
            "Role",
            assumed_by=_tasks_of_this_account(),
            description="What the training program may do",
        )

    def _define_execution_role(self) -> iam.Role:
        role = iam.Role(
            self,
            "ExecutionRole",
            assumed_by=_tasks_of_this_account(),
            description="What AWS Batch does for the job: pull its image, write its logs",
        )
        self._queue.log_group.grant_write(role)
        repository = None if Token.is_unresolved(self._image) else _ECR_IMAGE.match(self._image)
        if repository is None:
            Annotations.of(self).add_warning_v2(
                "ultracluster:imageNotInEcr",
                f"the image {self._image} is not an address in Amazon ECR: nodes of a network without a way out "
                "cannot pull it; copy it to a private repository, or grant its pull to execution_role",
            )
            return role
        role.add_to_policy(
            iam.PolicyStatement(sid="Login", actions=["ecr:GetAuthorizationToken"], resources=["*"])
        )
        place = f"{repository['region']}:{repository['account']}:repository/{repository['repository']}"
        role.add_to_policy(
            iam.PolicyStatement(
                sid="Pull",
                actions=[
                    "ecr:BatchCheckLayerAvailability",
                    "ecr:BatchGetImage",
                    "ecr:GetDownloadUrlForLayer",
                ],
                resources=[f"arn:{Aws.PARTITION}:ecr:{place}"],
            )
        )
        return role

    @property
    def execution_role(self) -> iam.IRole:
        """Role that pulls the image and writes the logs."""
        return self._execution_role

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The job role."""
        return self._role

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


def job_processes(queue: TrainingQueue, processes_per_node: int | None) -> int:
    """Give the processes of each node: what was asked, else one for each logical NeuronCore or GPU.

    Args:
        queue: Queue of the job.
        processes_per_node: What was asked. None for the default.
    """
    if processes_per_node is not None:
        return processes_per_node
    machine = queue.nodes.instance_type
    return machine.logical_neuron_cores or machine.chips


def check_job(*, environment: Mapping[str, str], attempts: int) -> list[Finding]:
    """Find what is wrong with the settings that every job has.

    Args:
        environment: The variables that were given.
        attempts: How often the job is started.
    """
    findings = [
        Finding(
            code="UC6109",
            problem=f"got {quote(name)}; AWS Batch and this job set it themselves",
            remedy="Leave it out",
            path=f"environment.{name}",
        )
        for name in environment
        if name.startswith("AWS_BATCH") or name in {"UC_DEVICES_PER_NODE", "UC_PROCESSES_PER_NODE"}
    ]
    if "--cache_dir" in environment.get("NEURON_CC_FLAGS", ""):
        findings.append(
            Finding(
                code="UC6010",
                problem="got --cache_dir, which wins over the compile cache's NEURON_COMPILE_CACHE_URL",
                remedy="Leave it out; the compile cache gives the address",
                path="environment.NEURON_CC_FLAGS",
            )
        )
    if not 1 <= attempts <= _MOST_ATTEMPTS:
        findings.append(
            Finding(
                code="UC6104",
                problem=f"got {quote(attempts)}",
                allowed=f"1 to {_MOST_ATTEMPTS}",
                path="attempts",
            )
        )
    return findings


def launch_command(command: Sequence[str], launcher: Launcher = "torchrun") -> list[str]:
    """Put the launcher in front of what it starts.

    Args:
        command: Program and arguments.
        launcher: What starts them. Default: torchrun.
    """
    scripts = resources.files("ultracluster").joinpath("scripts")
    script = "".join(
        scripts.joinpath(name).read_text(encoding="ascii") for name in ("launch.sh", f"start-{launcher}.sh")
    )
    return ["bash", "-c", script, "ultracluster-launch", *command]


def _tasks_of_this_account() -> iam.IPrincipal:
    return iam.ServicePrincipal(
        "ecs-tasks.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
    )
