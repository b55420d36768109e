"""A training job over several nodes, with all Neuron and EFA devices of each node."""

from typing import Unpack

from aws_cdk import aws_batch as batch
from constructs import Construct

from ultracluster.jobs.array_rendezvous import rendezvous_command, rendezvous_environment
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster.jobs.job_checks import check_types
from ultracluster.jobs.job_options import JobOptions
from ultracluster.jobs.launcher import launch_command
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.names.submission_tags import ARRAY_SIZE_TAG
from ultracluster_spec import job_definitions
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.container import WITHOUT_EFA
from ultracluster_spec.findings import Finding, reject
from ultracluster_spec.instance_type import check_job_ultraservers
from ultracluster_spec.job import Job
from ultracluster_spec.network import check_task_interface


class MultiNodeJob(ClusterJob):
    """A job definition of a multi-node parallel job, with one container on each node.

    Devices, vCPUs and memory are derived from the instance type. The image must contain python3 and, with the
    torchrun launcher, torchrun. `ultracluster docs training` explains how training code resumes.
    """

    _on_several_nodes = True

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        job: Job,
        *,
        queue: ITrainingQueue,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        meeting_place: CheckpointBucket | None = None,
        **options: Unpack[JobOptions],
    ) -> None:
        """Define the job.

        Args:
            job: Description of the job. Its number of nodes can be lowered at submission; the default is all nodes of the
                queue.
            queue: Queue of the job.
            compile_cache: Compile cache to use. Default: none.
            meeting_place: Bucket in which the nodes find each other, if an Auto Scaling group starts them; the image needs
                boto3. Default: the file system of the nodes.
            **options: Arguments of `JobOptions`.

        Raises:
            FindingsError: If the queue has fewer nodes (UC6101), the instance type cannot run the job (UC6102, UC4028), AWS
                Batch starts Spot nodes of the queue (UC6308) or only some of its nodes (UC6309), array children have no place to
                meet (UC6118), the environment is not allowed (UC6109, UC6010), the Neuron settings are
                invalid or conflict (UC6011, UC6012), `attempts` is out of range (UC6104), the job has too many dependencies
                (UC6113), the nodes do not mount its cache (UC6016), or the launcher starts one process only (UC6140)
                or has nothing to start (UC6142).
        """
        reject(check_types(job))
        nodes = queue.max_nodes if job.nodes is None else job.nodes
        instance_type = queue.nodes.instance_type
        file_system = queue.nodes.file_system
        variables = {}
        if job.without_efa and not queue.nodes.efa_devices:
            variables = {**WITHOUT_EFA}
        if instance_type.in_ultraserver:
            variables[job_definitions.ULTRASERVER_VARIABLE] = str(instance_type.instances_per_ultraserver)
        super().__init__(
            scope,
            construct_id,
            job,
            kind="multi-node",
            attempts=1,
            queue=queue,
            node_count=nodes,
            compile_cache=compile_cache,
            default_environment=variables,
            findings=[
                *_check_nodes(queue, nodes, without_efa=job.without_efa),
                *job_definitions.check_meeting_place(
                    nodes,
                    has_place=bool(queue.is_managed or file_system or meeting_place),
                    path="meeting_place",
                ),
                *check_job_ultraservers(instance_type, nodes),
                *check_task_interface(instance_type, queue.nodes.network_interfaces),
            ],
            **options,
        )
        if queue.is_managed:
            self._define_multi_node(nodes)
        else:
            self._define_array(nodes, meeting_place)

    def _define_multi_node(self, nodes: int) -> None:
        self._define(
            type="multinode",
            node_properties=batch.CfnJobDefinition.NodePropertiesProperty(
                main_node=0,
                num_nodes=nodes,
                node_range_properties=[
                    batch.CfnJobDefinition.NodeRangePropertyProperty(
                        # Open-ended: AWS Batch can change the number of nodes at submission only for such a range.
                        target_nodes="0:",
                        container=self._container(
                            launch_command(self._job.command, self._job.launcher),
                            instance_type=self.queue.nodes.instance_type.name,
                        ),
                    )
                ],
            ),
        )

    def _define_array(self, nodes: int, bucket: CheckpointBucket | None) -> None:
        """Define one child for each node; `ultracluster jobs submit` reads the size of the array from the tag."""
        if nodes == 1:  # AWS Batch has no arrays of one
            command = launch_command(self._job.command, self._job.launcher)
            self._define(type="container", container_properties=self._container(command))
            return
        file_system = self.queue.nodes.file_system
        place = f"s3://{bucket.bucket_name}" if bucket else file_system.mount_path if file_system else ""
        if bucket:
            bucket.grant_use(self.role)
        self.environment = {**self.environment, **rendezvous_environment(nodes=nodes, place=place)}
        self._define(
            type="container",
            tags={ARRAY_SIZE_TAG: str(nodes)},
            container_properties=self._container(rendezvous_command(self._job.command, self._job.launcher)),
        )


def _check_nodes(queue: ITrainingQueue, nodes: int, *, without_efa: bool) -> list[Finding]:
    instance_type = queue.nodes.instance_type.name
    has_efa = without_efa or bool(queue.nodes.efa_devices)
    return [
        *job_definitions.check_spot(spot=queue.has_spot, path="queue"),
        *job_definitions.check_one_launch_method(queue.launched_by, path="queue"),
        *job_definitions.check_nodes_fit(nodes, queue.max_nodes, path="nodes"),
        *job_definitions.check_nodes_can_talk(nodes, instance_type, has_efa=has_efa, path="nodes"),
    ]
