"""A job that has one node for itself, once or as an array of up to 10,000."""

from collections.abc import Mapping, Sequence

from aws_cdk import Duration
from constructs import Construct

from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.job import Job
from ultracluster.jobs.job_checks import check_array_size
from ultracluster.jobs.launcher import Launcher, launch_command
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.names.submission_tags import ARRAY_SIZE_TAG
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.plain_numbers import takes_plain_numbers

__all__ = ["SingleNodeJob"]


class SingleNodeJob(Job):
    """A job definition of one container that has a whole node: evaluation, fine-tuning, data preparation.

    There are no shares of a node. AWS Batch has no requirement for Neuron devices, so it would give the same
    devices to two containers of one node; with all vCPUs asked for, the second waits for another node.
    """

    @takes_plain_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: TrainingQueue,
        image: str | ContainerImage,
        command: Sequence[str],
        processes_per_node: int | None = None,
        array_size: int | None = None,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        neuron: NeuronSettings | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        attempts: int = 3,
        launcher: Launcher = "torchrun",
        depends_on: Sequence[Job] = (),
    ) -> None:
        """Define the job.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            queue: Queue that the job is meant for.
            image: Container image with a tag or digest; a `ContainerImage` also lets the job pull it. Nodes of the
                default network reach Amazon ECR only.
            command: Program and arguments that the launcher starts.
            processes_per_node: Processes that torchrun starts. Default: one for each logical NeuronCore.
            array_size: Jobs of an array, 2 to 10,000, which find their index in AWS_BATCH_JOB_ARRAY_INDEX. It is
                what `ultracluster jobs submit` asks for. Default: one job and no array.
            compile_cache: Compile cache to use. Default: none.
            neuron: Settings of the Neuron compiler and runtime. Default: their own defaults.
            environment: More environment variables. Default: none.
            timeout: When an attempt is ended. Default: never.
            attempts: How often the job is started when its host is lost, as Spot instances are, 1 to 10. A failure
                of the program itself is not repeated. Default: 3 times.
            launcher: ``torchrun``, ``jax`` or ``raw``, as for `MultiNodeJob`. Default: ``torchrun``.
            depends_on: Jobs that have to succeed before; `ultracluster jobs submit` submits them first. Default: none.

        Raises:
            FindingsError: If the array is out of bounds (UC6111), the environment is not allowed (UC6109, UC6010), the
                Neuron settings are wrong or contradict each other (UC6011, UC6012), the attempts are out of
                bounds (UC6104), or it waits for too many jobs (UC6113).
        """
        super().__init__(
            scope,
            construct_id,
            queue=queue,
            image=image,
            command=command,
            node_count=1,
            processes_per_node=processes_per_node,
            launcher=launcher,
            compile_cache=compile_cache,
            neuron=neuron,
            environment=environment,
            attempts=attempts,
            depends_on=depends_on,
            findings=check_array_size(array_size),
        )
        self._define(
            type="container",
            timeout=timeout,
            tags={ARRAY_SIZE_TAG: str(array_size)} if array_size is not None else None,
            container_properties=self._container(launch_command(command, launcher)),
        )
