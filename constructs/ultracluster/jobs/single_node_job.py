"""A job on one whole node, once or as an array of up to 10,000."""

from typing import Unpack

from constructs import Construct

from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster.jobs.job_checks import check_types
from ultracluster.jobs.job_options import JobOptions
from ultracluster.jobs.launcher import launch_command
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.names.submission_tags import ARRAY_SIZE_TAG
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import reject
from ultracluster_spec.job import Job
from ultracluster_spec.job_definitions import refuse_resume


class SingleNodeJob(ClusterJob):
    """A job definition of one container on a whole node, for evaluation, fine-tuning or data preparation.

    Jobs cannot share a node. AWS Batch has no resource requirement for Neuron devices and would assign the same devices
    to two containers on a node, so the job requests all vCPUs and a second job waits for another node.
    """

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        job: Job,
        *,
        queue: ITrainingQueue,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        **options: Unpack[JobOptions],
    ) -> None:
        """Define the job.

        Args:
            job: Description of the job. The jobs of an array read their index from AWS_BATCH_JOB_ARRAY_INDEX.
            queue: Queue of the job.
            compile_cache: Compile cache to use. Default: none.
            **options: Arguments of `JobOptions`.

        Raises:
            FindingsError: If the array size is out of range (UC6111), the environment is not allowed (UC6109, UC6010), the
                Neuron settings are invalid or conflict (UC6011, UC6012), `attempts` is out of range (UC6104), or the job
                has too many dependencies (UC6113).
        """
        reject(check_types(job))
        array = job.resume and job.array_size is not None
        super().__init__(
            scope,
            construct_id,
            job,
            kind="single-node",
            attempts=3,
            queue=queue,
            node_count=1,
            compile_cache=compile_cache,
            findings=[finding.at("resume") for finding in refuse_resume("an array")] if array else (),
            **options,
        )
        self._define(
            type="container",
            tags={ARRAY_SIZE_TAG: str(job.array_size)} if job.array_size is not None else None,
            container_properties=self._container(launch_command(job.command, job.launcher)),
        )
