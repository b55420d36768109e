"""A training job over several nodes, with every Neuron and EFA device of each of them."""

from collections.abc import Mapping, Sequence

from aws_cdk import Duration
from aws_cdk import aws_batch as batch
from constructs import Construct

from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.job import Job
from ultracluster.jobs.launcher import Launcher, launch_command
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.findings import Finding
from ultracluster_rules.job_definitions import check_nodes_can_talk, check_nodes_fit, check_spot
from ultracluster_rules.machines import check_job_ultraservers
from ultracluster_rules.network import check_task_interface
from ultracluster_rules.numbers import rejects_unsafe_numbers

__all__ = ["MultiNodeJob"]


class MultiNodeJob(Job):
    """A job definition of a multi-node parallel job, one container on each node.

    Devices, vCPUs and memory follow from the nodes' type. The command is what the launcher starts: with torchrun a
    script, such as ``["train.py", "--steps", "1000"]``, else a program. The image must hold bash, python3 and, for
    that launcher, torchrun. What training code must do to resume is in docs/training.md.
    """

    @rejects_unsafe_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: TrainingQueue,
        image: str | ContainerImage,
        command: Sequence[str],
        node_count: int | None = None,
        processes_per_node: int | None = None,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        neuron: NeuronSettings | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        attempts: int = 1,
        launcher: Launcher = "torchrun",
        after: Sequence[Job] = (),
        without_efa: bool = False,
    ) -> None:
        """Define the job.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            queue: Queue that the job is meant for.
            image: Container image with a tag or digest; a `ContainerImage` also lets the job pull it. Nodes of the
                default network reach Amazon ECR only.
            command: Program and arguments that the launcher starts.
            node_count: Nodes of the job. Default: all nodes of the queue. It can be lowered at submission.
            processes_per_node: Processes that torchrun starts on each node. Default: one for each logical
                NeuronCore, 64 on a trn2.48xlarge unless `neuron` says otherwise; one for the other launchers.
            compile_cache: Compile cache to use. Default: none.
            neuron: Settings of the Neuron compiler and runtime. Default: their own defaults.
            environment: More environment variables. Default: none.
            timeout: When an attempt is ended. Default: never.
            attempts: How often the job is started when its host is lost, 1 to 10. A failure of the program
                itself is not repeated. Default: once.
            launcher: ``torchrun``; ``jax``, which starts one process on each node and tells JAX and the Neuron
                runtime how many there are; or ``raw``, which only says in MASTER_ADDR, MASTER_PORT, NNODES and
                NODE_RANK where the node is. Default: ``torchrun``.
            after: Jobs that have to succeed before; `ultracluster jobs submit` submits them first. Default: none.
            without_efa: Whether several nodes of a type without EFA are meant: they talk over TCP, at a fraction of
                the speed. Default: they are refused.

        Raises:
            FindingsError: If the nodes exceed the queue's (UC6101), the type cannot do it (UC6102, UC4028), the queue has
                Spot nodes (UC6308), the environment is not allowed (UC6109, UC6010), the Neuron settings are wrong
                or contradict each other (UC6011, UC6012), the attempts are out of bounds (UC6104), it waits for too
                many jobs (UC6113), the nodes do not mount its cache (UC6016), or the launcher is unknown (UC6141),
                starts one process only (UC6140) or has nothing to start (UC6142).
        """
        nodes = queue.max_nodes if node_count is None else node_count
        machine = queue.nodes.instance_type
        over_tcp = without_efa and not queue.nodes.efa_devices
        super().__init__(
            scope,
            construct_id,
            queue=queue,
            image=image,
            command=command,
            node_count=nodes,
            processes_per_node=processes_per_node,
            launcher=launcher,
            compile_cache=compile_cache,
            neuron=neuron,
            environment=environment,
            attempts=attempts,
            after=after,
            own_environment={"FI_PROVIDER": "tcp", "FI_EFA_USE_DEVICE_RDMA": "0"} if over_tcp else None,
            findings=[
                *_check_nodes(queue, nodes, without_efa=without_efa),
                *check_job_ultraservers(machine, nodes),
                *check_task_interface(machine, queue.nodes.network_interfaces),
            ],
        )
        self._define(
            type="multinode",
            timeout=timeout,
            node_properties=batch.CfnJobDefinition.NodePropertiesProperty(
                main_node=0,
                num_nodes=nodes,
                node_range_properties=[
                    batch.CfnJobDefinition.NodeRangePropertyProperty(
                        # Open-ended, because AWS Batch lets only such a range be changed at submission.
                        target_nodes="0:",
                        container=self._container(
                            launch_command(
                                command, launcher, ultraserver=machine.ultraserver_type is not None
                            ),
                            instance_type=machine.name,
                        ),
                    )
                ],
            ),
        )


def _check_nodes(queue: TrainingQueue, nodes: int, *, without_efa: bool) -> list[Finding]:
    machine = queue.nodes.instance_type.name
    has_efa = without_efa or bool(queue.nodes.efa_devices)
    return [
        *check_spot(spot=queue.has_spot, path="queue"),
        *check_nodes_fit(nodes, queue.max_nodes, path="node_count"),
        *check_nodes_can_talk(nodes, machine, has_efa=has_efa, path="node_count"),
    ]
