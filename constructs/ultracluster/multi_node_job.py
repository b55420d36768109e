"""A training job over several nodes, with every Neuron and EFA device of each of them."""

import re
from collections.abc import Mapping, Sequence
from importlib import resources

import jsii
from aws_cdk import Annotations, Aws, Duration, Stack, Token
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.compile_cache import CompileCache
from ultracluster.job_container import job_container
from ultracluster.training_queue import TrainingQueue
from ultracluster_catalog.findings import Finding, FindingsError, quote
from ultracluster_catalog.nic_layouts import check_task_interface

__all__ = ["MultiNodeJob"]

_ECR_IMAGE = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/(?P<repository>[^:@]+)"
)

_MOST_ATTEMPTS = 10


@jsii.implements(iam.IGrantable)
class MultiNodeJob(Construct):
    """A job definition of a multi-node parallel job, one container on each node, started with torchrun.

    Devices, vCPUs and memory follow from the nodes' type. The command is what torchrun starts, such as
    ``["train.py", "--steps", "1000"]``; the image must hold bash, python3 and torchrun.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: TrainingQueue,
        image: str,
        command: Sequence[str],
        node_count: int | None = None,
        processes_per_node: int | None = None,
        compile_cache: CompileCache | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        attempts: int = 1,
    ) -> None:
        """Define the job.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            queue: Queue that the job is meant for.
            image: Container image with a tag or digest. Nodes of the default network reach Amazon ECR only.
            command: Program and arguments that torchrun starts in each process.
            node_count: Nodes of the job. Default: all nodes of the queue. It can be lowered at submission.
            processes_per_node: Processes that torchrun starts on each node. Default: one for each logical
                NeuronCore, 64 on a trn2.48xlarge.
            compile_cache: Compile cache to use. Default: none.
            environment: More environment variables. Default: none.
            timeout: When an attempt is ended. Default: never.
            attempts: How often the job is started when its host is lost, 1 to 10. A failure of the program
                itself is not repeated. Default: once.

        Raises:
            FindingsError: If the nodes exceed the queue's (UC6101), the type cannot do it (UC6102), the
                environment is not allowed (UC6109, UC6010) or the attempts are out of bounds (UC6104).
        """
        nodes = queue.max_nodes if node_count is None else node_count
        variables = dict(environment or {})
        _check(queue=queue, nodes=nodes, environment=variables, attempts=attempts)
        super().__init__(scope, construct_id)
        machine = queue.nodes.instance_type
        for finding in check_task_interface(machine, queue.nodes.network_interfaces):
            Annotations.of(self).add_warning_v2(f"ultracluster:{finding.code}", str(finding))
        processes = (
            machine.logical_neuron_cores or machine.chips
            if processes_per_node is None
            else processes_per_node
        )
        self._role = self._define_role()
        self._execution_role = self._define_execution_role(queue, image)
        if compile_cache is not None:
            compile_cache.grant_use(self._role)
        definition = batch.CfnJobDefinition(
            self,
            "Resource",
            type="multinode",
            retry_strategy=batch.CfnJobDefinition.RetryStrategyProperty(
                attempts=attempts,
                evaluate_on_exit=[
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
            node_properties=batch.CfnJobDefinition.NodePropertiesProperty(
                main_node=0,
                num_nodes=nodes,
                node_range_properties=[
                    batch.CfnJobDefinition.NodeRangePropertyProperty(
                        # Open-ended, because AWS Batch lets only such a range be changed at submission.
                        target_nodes="0:",
                        container=job_container(
                            queue=queue,
                            image=image,
                            command=_launch_command(command),
                            environment=self._environment(compile_cache, variables, processes=processes),
                            role=self._role,
                            execution_role=self._execution_role,
                            log_stream_prefix=construct_id,
                        ),
                    )
                ],
            ),
        )
        self._job_definition_arn = definition.ref
        self.node.default_child = definition

    def _environment(
        self, compile_cache: CompileCache | None, given: Mapping[str, str], *, processes: int
    ) -> dict[str, str]:
        region = Stack.of(self).region
        cache = dict(compile_cache.environment) if compile_cache else {}
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

    def _define_execution_role(self, queue: TrainingQueue, image: str) -> iam.Role:
        role = iam.Role(
            self,
            "ExecutionRole",
            assumed_by=_tasks_of_this_account(),
            description="What AWS Batch does for the job: pull its image, write its logs",
        )
        queue.log_group.grant_write(role)
        repository = None if Token.is_unresolved(image) else _ECR_IMAGE.match(image)
        if repository is None:
            Annotations.of(self).add_warning_v2(
                "ultracluster:imageNotInEcr",
                f"the image {image} is not an address in Amazon ECR: nodes of a network without a way out cannot "
                "pull it; copy it to a private repository, or grant its pull to execution_role",
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
    def role(self) -> iam.IRole:
        """Role of the training program."""
        return self._role


def _check(*, queue: TrainingQueue, nodes: int, environment: Mapping[str, str], attempts: int) -> None:
    findings = []
    machine = queue.nodes.instance_type
    if not 1 <= nodes <= queue.max_nodes:
        findings.append(
            Finding(
                code="UC6101",
                problem=f"got {quote(nodes)} nodes for a queue of {queue.max_nodes}; the job would wait for ever",
                allowed=f"1 to {queue.max_nodes}",
                path="node_count",
            )
        )
    if nodes > 1 and not queue.nodes.efa_devices:
        findings.append(
            Finding(
                code="UC6102",
                problem=f"{machine.name} has no EFA, which nodes of one job need among themselves",
                remedy="Choose a type with EFA, such as trn1.32xlarge or trn2.48xlarge, or one node",
                path="node_count",
            )
        )
    findings += [
        Finding(
            code="UC6109",
            problem=f"got {quote(name)}; AWS Batch and this job set it themselves",
            remedy="Leave it out",
            path=f"environment.{name}",
        )
        for name in environment
        if name.startswith("AWS_BATCH") or name == "UC_PROCESSES_PER_NODE"
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
    if findings:
        raise FindingsError(findings)


def _launch_command(command: Sequence[str]) -> list[str]:
    script = resources.files("ultracluster").joinpath("scripts/launch.sh").read_text(encoding="ascii")
    return ["bash", "-c", script, "ultracluster-launch", *command]


def _tasks_of_this_account() -> iam.IPrincipal:
    return iam.ServicePrincipal(
        "ecs-tasks.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
    )
