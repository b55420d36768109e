"""A job on one whole node, once or as an array of up to 10,000."""

from typing import Unpack

from constructs import Construct

from ultracluster.jobs.job import Job
from ultracluster.jobs.job_options import JobOptions, check_options
from ultracluster.jobs.launcher import launch_command
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.names.submission_tags import ARRAY_SIZE_TAG
from ultracluster_rules.job_definitions import ARRAY_SIZE, refuse_resume
from ultracluster_rules.numbers import rejects_unsafe_numbers


class SingleNodeJob(Job):
    """A job definition of one container on a whole node, for evaluation, fine-tuning or data preparation.

    Jobs cannot share a node. AWS Batch has no resource requirement for Neuron devices and would assign the same devices
    to two containers on a node, so the job requests all vCPUs and a second job waits for another node.
    """

    @rejects_unsafe_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: ITrainingQueue,
        array_size: int | None = None,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        **options: Unpack[JobOptions],
    ) -> None:
        """Define the job.

        Args:
            queue: Queue of the job.
            array_size: Number of jobs in the array, 2 to 10,000, which read their index from AWS_BATCH_JOB_ARRAY_INDEX;
                applied by `ultracluster jobs submit`. Default: a single job.
            compile_cache: Compile cache to use. Default: none.
            **options: Image, command and other arguments of `JobOptions`. `attempts` defaults to 3.

        Raises:
            FindingsError: If the array size is out of range (UC6111), the environment is not allowed (UC6109, UC6010), the
                Neuron settings are invalid or conflict (UC6011, UC6012), `attempts` is out of range (UC6104), or the job
                has too many dependencies (UC6113).
            TypeError: If an option is unknown or a required one is missing.
        """
        check_options(options, JobOptions)
        options.setdefault("attempts", 3)
        findings = [] if array_size is None else ARRAY_SIZE.check(array_size, path="array_size")
        if options.get("resume") and array_size is not None:
            findings += [finding.at("resume") for finding in refuse_resume("an array")]
        super().__init__(
            scope,
            construct_id,
            queue=queue,
            node_count=1,
            compile_cache=compile_cache,
            findings=findings,
            **options,
        )
        self._define(
            type="container",
            tags={ARRAY_SIZE_TAG: str(array_size)} if array_size is not None else None,
            container_properties=self._container(launch_command(self._command, self._launcher)),
        )
