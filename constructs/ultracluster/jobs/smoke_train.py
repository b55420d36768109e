"""A job before the paid job, which finds cores and links that compute or deliver wrongly."""

from collections.abc import Sequence
from importlib import resources
from typing import Literal

from aws_cdk import Duration
from constructs import Construct

from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.job import Job
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.plain_numbers import takes_plain_numbers

__all__ = ["SmokeTrain"]


class SmokeTrain(MultiNodeJob):
    """A multi-node job that trains a tiny model in every process for a few steps and compares the losses of all ranks.

    All ranks see the same batches, so that every loss must equal every other to the last bit; the log names the ranks
    that differ, with their nodes. It also shows that the image, the launcher and the collectives work together. The
    image must hold torch with the framework for the device. Name it in `depends_on` of the paid job.
    """

    @takes_plain_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: TrainingQueue,
        image: str | ContainerImage,
        node_count: int | None = None,
        processes_per_node: int | None = None,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        neuron: NeuronSettings | None = None,
        device: Literal["xla", "neuron", "cuda"] | None = None,
        steps: int = 5,
        timeout: Duration | None = None,
        depends_on: Sequence[Job] = (),
    ) -> None:
        """Define the job.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            queue: Queue of the job that it protects.
            image: Image of that job.
            node_count: Nodes of that job. Default: all nodes of the queue.
            processes_per_node: Processes on each node. Default: one for each logical NeuronCore or GPU.
            compile_cache: Compile cache to use. Default: none.
            neuron: Settings of that job. Default: their own defaults.
            device: What torch calls the device: ``xla`` for torch-neuronx, ``neuron`` for TorchNeuron, ``cuda`` for
                GPUs. Default: ``xla`` on Neuron types, else ``cuda``.
            steps: Steps of training, 2 or more: what a collective delivered shows in the next step's loss.
                Default: 5.
            timeout: When it is ended. Default: after 30 minutes, compilation included.
            depends_on: Jobs that have to succeed before, such as a `FabricGate`. Default: none.

        Raises:
            FindingsError: If there are less than two steps (UC6152), or the job does not fit the queue.
        """
        if steps < 2:  # noqa: PLR2004 - said above
            problem = f"got {quote(steps)}; a wrong sum shows in the loss of the next step"
            raise FindingsError([Finding(code="UC6152", problem=problem, allowed="2 or more", path="steps")])
        kind = device or ("xla" if queue.nodes.instance_type.neuron_devices else "cuda")
        script = (
            resources.files("ultracluster").joinpath("scripts/smoke_train.py").read_text(encoding="ascii")
        )
        super().__init__(
            scope,
            construct_id,
            queue=queue,
            image=image,
            # torchrun starts a program instead of a script file, which the image does not have.
            command=["--no-python", "python3", "-c", script, "--device", kind, "--steps", str(steps)],
            node_count=node_count,
            processes_per_node=processes_per_node,
            compile_cache=compile_cache,
            neuron=neuron,
            depends_on=depends_on,
            timeout=timeout or Duration.minutes(30),
        )
