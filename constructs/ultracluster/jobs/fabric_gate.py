"""A job before the paid job, which refuses a fabric on which training would hang or crawl."""

from collections.abc import Sequence
from importlib import resources

from aws_cdk import Duration
from constructs import Construct

from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.job import Job
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_rules.job_definitions import check_fabric, check_gate_bound
from ultracluster_rules.numbers import rejects_unsafe_numbers

__all__ = ["FabricGate"]


class FabricGate(MultiNodeJob):
    """A multi-node job that fails unless every node has its EFA interfaces and they carry what you ask of them.

    It counts the interfaces that libfabric sees from inside the image, since a device that is missing there turns EFA
    into TCP without a word, and measures an all-reduce over all NeuronCores of all nodes with nccom-test. The image must
    hold python3, libfabric for EFA and, on Neuron types, aws-neuronx-tools and Open MPI; it needs no SSH. Name it in
    `after` of the paid job.
    """

    @rejects_unsafe_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: TrainingQueue,
        image: str | ContainerImage,
        node_count: int | None = None,
        neuron: NeuronSettings | None = None,
        least_bandwidth: float | None = None,
        most_latency: float | None = None,
        patience: Duration | None = None,
        after: Sequence[Job] = (),
    ) -> None:
        """Define the gate.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            queue: Queue of the job that it protects.
            image: Image of that job: what counts is what its own libfabric sees.
            node_count: Nodes of that job. Default: all nodes of the queue.
            neuron: Settings of that job: how many logical NeuronCores there are. Default: their own defaults.
            least_bandwidth: Bus bandwidth in GiB/s (nccom-test writes GB/s) that an all-reduce of 1 GiB must reach.
                Default: any, and the log says what was measured. AWS publishes no floor, and published
                measurements of one type differ by a factor of seven.
            most_latency: Microseconds that an all-reduce of 1 KiB may take. Default: any.
            patience: How long to wait for the nodes, and then for nccom-test. Default: 15 minutes each.
            after: Jobs that have to succeed before. Default: none.

        Raises:
            FindingsError: If the type has no EFA (UC6150), a bound is not above zero (UC6151), or the job does not
                fit the queue.
        """
        waits = patience or Duration.minutes(15)
        findings = _check(queue, least_bandwidth=least_bandwidth, most_latency=most_latency)
        if findings:
            raise FindingsError(findings)
        machine = queue.nodes.instance_type
        ranks = neuron.processes_per_node(machine) if neuron else machine.logical_neuron_cores
        script = (
            resources.files("ultracluster").joinpath("scripts/fabric_gate.py").read_text(encoding="ascii")
        )
        command = ["python3", "-c", script, "--efa-interfaces", str(len(queue.nodes.efa_devices))]
        command += ["--ranks-per-node", str(ranks), "--patience", str(waits.to_seconds())]
        if least_bandwidth is not None:
            command += ["--least-bandwidth", str(least_bandwidth)]
        if most_latency is not None:
            command += ["--most-latency", str(most_latency)]
        super().__init__(
            scope,
            construct_id,
            queue=queue,
            image=image,
            command=command,
            node_count=node_count,
            launcher="raw",
            neuron=neuron,
            after=after,
            timeout=Duration.seconds(3 * waits.to_seconds()),
        )


def _check(
    queue: TrainingQueue, *, least_bandwidth: float | None, most_latency: float | None
) -> list[Finding]:
    fabric = check_fabric(queue.nodes.instance_type.name, has_efa=bool(queue.nodes.efa_devices))
    return [
        *(finding.at("queue") for finding in fabric),
        *check_gate_bound(least_bandwidth, path="least_bandwidth"),
        *check_gate_bound(most_latency, path="most_latency"),
    ]
