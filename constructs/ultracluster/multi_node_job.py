"""A training job over several nodes, with every Neuron and EFA device of each of them."""

from collections.abc import Mapping, Sequence

from aws_cdk import Annotations, Duration
from aws_cdk import aws_batch as batch
from constructs import Construct

from ultracluster.compile_cache import CompileCache
from ultracluster.job import Job, check_job, job_processes, launch_command
from ultracluster.training_queue import TrainingQueue
from ultracluster_catalog.findings import Finding, FindingsError, quote
from ultracluster_catalog.nic_layouts import check_task_interface

__all__ = ["MultiNodeJob"]


class MultiNodeJob(Job):
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
        findings = _check_nodes(queue, nodes) + check_job(environment=variables, attempts=attempts)
        if findings:
            raise FindingsError(findings)
        super().__init__(scope, construct_id, queue=queue, image=image, compile_cache=compile_cache)
        machine = queue.nodes.instance_type
        for finding in check_task_interface(machine, queue.nodes.network_interfaces):
            Annotations.of(self).add_warning_v2(f"ultracluster:{finding.code}", str(finding))
        processes = job_processes(queue, processes_per_node)
        self._define(
            type="multinode",
            attempts=attempts,
            timeout=timeout,
            node_properties=batch.CfnJobDefinition.NodePropertiesProperty(
                main_node=0,
                num_nodes=nodes,
                node_range_properties=[
                    batch.CfnJobDefinition.NodeRangePropertyProperty(
                        # Open-ended, because AWS Batch lets only such a range be changed at submission.
                        target_nodes="0:",
                        container=self._container(
                            launch_command(command), self._environment(variables, processes=processes)
                        ),
                    )
                ],
            ),
        )


def _check_nodes(queue: TrainingQueue, nodes: int) -> list[Finding]:
    findings = []
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
                problem=f"{queue.nodes.instance_type.name} has no EFA, which nodes of one job need among themselves",
                remedy="Choose a type with EFA, such as trn1.32xlarge or trn2.48xlarge, or one node",
                path="node_count",
            )
        )
    return findings
