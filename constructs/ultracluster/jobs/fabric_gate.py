"""A gate that rejects nodes whose network fabric would make training hang or crawl."""

from typing import Unpack

from aws_cdk import Duration
from constructs import Construct

from ultracluster._foundation.script import lean_script
from ultracluster.jobs.job_options import GateOptions, gate_job
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import Finding, reject
from ultracluster_spec.job import Job
from ultracluster_spec.job_definitions import check_fabric, check_gate_bandwidth, check_gate_bound
from ultracluster_spec.neuron import Neuron


class FabricGate(MultiNodeJob):
    """A multi-node job that fails unless every node has its EFA interfaces and they reach the required performance.

    It counts the interfaces that libfabric finds inside the image, because libfabric silently falls back to TCP when one
    is missing, measures an all-reduce over all NeuronCores of all nodes with nccom-test, and lets it check the sums. If
    that fails, groups of 2, 4, 8 and more neighbours are measured by themselves (of an UltraServer and more, where there
    are UltraServers), and the log names those that fail. The image must contain python3, libfabric for EFA and, on Neuron
    types, aws-neuronx-tools and Open MPI; SSH is not needed. Put the gate into `depends_on` of the job that it protects.
    """

    _trains = False

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: ITrainingQueue,
        node_count: int | None = None,
        min_bandwidth: float | None = None,
        max_latency: float | None = None,
        patience: Duration | None = None,
        meeting_place: CheckpointBucket | None = None,
        **options: Unpack[GateOptions],
    ) -> None:
        """Define the gate.

        Args:
            queue: Queue of the job that the gate protects.
            node_count: Number of nodes of that job. Default: all nodes of the queue.
            min_bandwidth: Bus bandwidth in GiB/s (nccom-test prints GB/s) that an all-reduce of 1 GiB must reach. AWS
                publishes no minimum, and published measurements of one type differ by a factor of seven. Default: no
                limit; the log shows the measured value.
            max_latency: Latency in microseconds that an all-reduce of 1 KiB must not exceed. Default: no limit.
            patience: How long to wait for the nodes, and again for nccom-test. Default: 15 minutes.
            meeting_place: Bucket in which the nodes find each other, as for `MultiNodeJob`.
            **options: Image, Neuron settings and dependencies as in `GateOptions`.

        Raises:
            FindingsError: If the instance type has no EFA (UC6150), a limit is not above zero (UC6151), the network does not
                carry the bandwidth (UC6158), or the job does not fit the queue.
        """
        wait = patience or Duration.minutes(15)
        nodes = queue.max_nodes if node_count is None else node_count
        reject(_check(queue, nodes, min_bandwidth=min_bandwidth, max_latency=max_latency))
        instance_type = queue.nodes.instance_type
        settings = {
            "efa": len(queue.nodes.efa_devices),
            "ranks": (options.get("neuron") or Neuron()).processes_per_node(instance_type),
            "patience": wait.to_seconds(),
            "group": instance_type.instances_per_ultraserver if instance_type.in_ultraserver else 2,
            "bandwidth": min_bandwidth,
            "latency": max_latency,
        }
        command = ["python3", "-c", lean_script("fabric_gate.py")]
        command += [f"{name}={value:g}" for name, value in settings.items() if value is not None]
        # Waits for the nodes, for the test of all of them, and for tests of groups that double in size each time.
        timeout = Duration.seconds((4 + nodes.bit_length()) * wait.to_seconds())
        job = Job(command=tuple(command), nodes=node_count, launcher="raw")
        job, given = gate_job(job, options, timeout=timeout)
        super().__init__(
            scope,
            construct_id,
            job,
            queue=queue,
            meeting_place=meeting_place,
            **given,
        )


def _check(
    queue: ITrainingQueue, nodes: int, *, min_bandwidth: float | None, max_latency: float | None
) -> list[Finding]:
    instance_type = queue.nodes.instance_type
    fabric = check_fabric(instance_type.name, has_efa=bool(queue.nodes.efa_devices))
    return [
        *(finding.at("queue") for finding in fabric),
        *check_gate_bound(min_bandwidth, path="min_bandwidth"),
        *check_gate_bound(max_latency, path="max_latency"),
        *check_gate_bandwidth(instance_type, nodes, min_bandwidth, path="min_bandwidth"),
    ]
