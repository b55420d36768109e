"""What the job constructs take besides the value `Job`, each argument declared and documented once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Required, TypedDict

from aws_cdk import Duration
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam

from ultracluster.images.container_image import AnyContainerImage
from ultracluster_spec.job import Job
from ultracluster_spec.neuron import Neuron

if TYPE_CHECKING:
    from ultracluster.jobs.cluster_job import ClusterJob


class GateOptions(TypedDict, total=False):
    """Arguments of a gate.

    Attributes:
        image: Container image: a reference with a tag or digest, a `ContainerImage`, an `ecs.ContainerImage` or a
            `DockerImageAsset`. A gate needs the image of the job that it protects. Nodes of the default network reach
            Amazon ECR only.
        neuron: Settings of the Neuron compiler and runtime. Default: Neuron's defaults.
        depends_on: Jobs that must succeed first, up to 20; `ultracluster jobs submit` submits them. Default: none.
    """

    image: Required[AnyContainerImage]
    neuron: Neuron | None
    depends_on: Sequence["ClusterJob"]


class JobOptions(TypedDict, total=False):
    """Arguments of every job that are objects of the CDK; what else describes it is a `Job`.

    Attributes:
        image: Container image, as an object or a reference, in place of `Job.image`, such as a `ContainerImage`, an
            `ecs.ContainerImage` or a `DockerImageAsset`, which the job may then pull. Default: `Job.image`.
        job_role: Role that the training program assumes; ``ecs-tasks.amazonaws.com`` must be allowed to assume it. It gets the
            permissions of the job, unless it is imported as not mutable (UC6165). Default: a new one.
        execution_role: Role that pulls the image and writes the logs; as for `job_role`. Default: a new one.
        secrets: More environment variables with secrets of AWS Secrets Manager or parameters of Systems Manager, which the
            execution role reads when the job starts; job definitions show their ARNs only. Secrets Manager needs an endpoint
            or a NAT gateway in the network. Default: those of `Job.secrets`.
        timeout: Maximum duration of an attempt, in place of `Job.timeout_hours`. Default: `Job.timeout_hours`.
        depends_on: Jobs that must succeed first, up to 20; `ultracluster jobs submit` submits them. Default: none.
    """

    image: AnyContainerImage | None
    job_role: iam.IRole | None
    execution_role: iam.IRole | None
    secrets: Mapping[str, batch.Secret] | None
    timeout: Duration | None
    depends_on: Sequence["ClusterJob"]


def gate_job(job: Job, options: GateOptions, *, timeout: Duration) -> tuple[Job, JobOptions]:
    """Return the description of a gate with the image and Neuron settings of its arguments, and the arguments that are left."""
    return (
        replace(job, neuron=options.get("neuron") or Neuron()),
        {
            "image": options["image"],
            "depends_on": options.get("depends_on", ()),
            "timeout": timeout,
        },
    )
