"""A gate that finds cores and links with wrong results."""

from typing import Literal, Unpack

from aws_cdk import Duration
from constructs import Construct

from ultracluster._foundation.script import lean_script
from ultracluster.jobs.job_options import GateOptions, gate_job
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.job import Job


class SmokeTrain(MultiNodeJob):
    """A multi-node job that trains a tiny model in every process for a few steps and compares the losses of all ranks.

    All ranks see the same batches, so their losses must be equal to the last bit; the log lists the ranks that differ,
    with their nodes. The job also tests that image, launcher and collectives work together. The image must contain torch
    and the framework for the device. Put the gate into `depends_on` of the job that it protects.
    """

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: ITrainingQueue,
        node_count: int | None = None,
        processes_per_node: int | None = None,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        device: Literal["xla", "neuron", "cuda"] | None = None,
        steps: int = 5,
        timeout: Duration | None = None,
        meeting_place: CheckpointBucket | None = None,
        **options: Unpack[GateOptions],
    ) -> None:
        """Define the gate.

        Args:
            queue: Queue of the job that the gate protects.
            node_count: Number of nodes of that job. Default: all nodes of the queue.
            processes_per_node: Processes on each node. Default: one per logical NeuronCore or GPU.
            compile_cache: Compile cache to use. Default: none.
            device: PyTorch device type: ``xla`` for torch-neuronx, ``neuron`` for TorchNeuron, ``cuda`` for GPUs. Default:
                ``xla`` on Neuron types, otherwise ``cuda``.
            steps: Training steps, at least 2: the result of a collective shows in the loss of the next step. Default: 5.
            timeout: Maximum duration, compilation included. Default: 30 minutes.
            meeting_place: Bucket in which the nodes find each other, as for `MultiNodeJob`.
            **options: Image, Neuron settings and dependencies as in `GateOptions`.

        Raises:
            FindingsError: If `steps` is below 2 (UC6152), or the job does not fit the queue.
        """
        if steps < 2:  # noqa: PLR2004 - said above
            problem = f"got {quote(steps)}; a wrong sum shows in the loss of the next step"
            raise FindingsError.of("UC6152", problem, allowed="2 or more", path="steps")
        device = device or ("xla" if queue.nodes.instance_type.neuron_devices else "cuda")
        script = lean_script("smoke_train.py")
        job = Job(
            # The image has no script file, so torchrun starts a program instead.
            command=("--no-python", "python3", "-c", script, "--device", device, "--steps", str(steps)),
            nodes=node_count,
            processes_per_node=processes_per_node,
        )
        job, given = gate_job(job, options, timeout=timeout or Duration.minutes(30))
        super().__init__(
            scope,
            construct_id,
            job,
            queue=queue,
            compile_cache=compile_cache,
            meeting_place=meeting_place,
            **given,
        )
