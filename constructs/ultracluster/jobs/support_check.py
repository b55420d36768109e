"""A job that lists what Neuron does not support of a model, before it is ported."""

from typing import Unpack

from constructs import Construct

from ultracluster._foundation.instance_types import AnyInstanceType, instance_type_of
from ultracluster._foundation.script import lean_script
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster.jobs.job_checks import check_types
from ultracluster.jobs.job_options import JobOptions
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster_catalog.names.submission_tags import QUEUE_TAG
from ultracluster_catalog.neuron.compile_machines import TARGET_VARIABLE, compile_target
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import reject
from ultracluster_spec.job import Job
from ultracluster_spec.job_definitions import check_support_target, refuse_resume


class SupportCheck(ClusterJob):
    """A job that checks each operator of a PyTorch model against the Neuron compiler and then compiles the model.

    Its command is ``[FILE.py, FUNCTION]``: a file of the image, and a function without arguments that returns the model, a
    module or a function, and its example inputs. `torch_neuronx.analyze` finds the operators that are not supported, and
    would have to run on the CPU or be replaced; if there are none, `torch_neuronx.trace` compiles the model. Neither needs
    Neuron devices. The log lists the operators with their places, and the job fails if there are any, so that jobs with it
    in `depends_on` do not start.

    Only the computation that the function describes is checked: for the backward pass, return a function that computes it.
    The image needs torch-neuronx with PyTorch/XLA. TorchNeuron, whose operators run on the CPU one by one if they must, has
    a table of operators instead.
    (Neuron documentation, torch_neuronx.analyze and torch_neuronx.trace, read 2026-11.)
    """

    _trains = False

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        job: Job,
        *,
        queue: ITrainingQueue,
        for_instance_type: AnyInstanceType | None = None,
        **options: Unpack[JobOptions],
    ) -> None:
        """Define the job.

        Args:
            job: Description of the job.
            queue: Queue of the host that compiles; it needs no Neuron devices.
            for_instance_type: Instance type to compile for. Default: that of the queue.
            **options: Arguments of `JobOptions`.

        Raises:
            FindingsError: If the command is not a file and a function, or the type has no Neuron devices (UC6159), or
                `SingleNodeJob` would reject an argument.
        """
        reject(check_types(job))
        own = queue.nodes.instance_type
        target = own if for_instance_type is None else instance_type_of(for_instance_type)
        reject(finding.at("for_instance_type") for finding in check_support_target(target))
        resume = refuse_resume("a support check") if job.resume else []
        super().__init__(
            scope,
            construct_id,
            job,
            kind="support-check",
            attempts=3,
            queue=queue,
            node_count=1,
            default_environment={TARGET_VARIABLE: compile_target(target)},
            findings=[finding.at("resume") for finding in resume],
            for_instance_type=target,
            **options,
        )
        script = lean_script("support_check.py")
        self._define(
            type="container",
            tags={QUEUE_TAG: queue.job_queue_arn},
            container_properties=self._container(["python3", "-c", script, *job.command]),
        )
