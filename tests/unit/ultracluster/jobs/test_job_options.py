"""The options that the jobs share are checked as explicit parameters are."""

import itertools
from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, queue, ultra_cluster

import ultracluster as uc
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster_spec.findings import FindingsError

KINDS = ["MultiNodeJob", "SingleNodeJob", "PrecompileJob", "FabricGate", "SmokeTrain"]
GATES = {"FabricGate", "SmokeTrain"}
METHODS = [
    "add_multi_node_job",
    "add_single_node_job",
    "add_precompile_job",
    "add_fabric_gate",
    "add_smoke_train",
]


def define(stack: cdk.Stack, kind: str, **options: Any) -> ClusterJob:
    job: Callable[..., ClusterJob] = getattr(uc, kind)
    description = () if kind in GATES else (uc.Job(command=("train.py",), image=IMAGE),)
    if kind == "PrecompileJob":
        options["compile_cache"] = uc.CompileCache(stack, "Cache")
    return job(stack, "Job", *description, queue=queue(stack), **options)


UNKNOWN = ["colour", "default_environment", "after"]
OF_A_PROGRAM = ["command", "environment", "launcher", "attempts"]


@pytest.mark.parametrize(
    ("kind", "option"),
    [*itertools.product(KINDS, UNKNOWN), *itertools.product(sorted(GATES), OF_A_PROGRAM)],
)
def test_an_option_that_a_job_does_not_take_is_a_type_error_that_names_it(
    stack: cdk.Stack, kind: str, option: str
) -> None:
    image = {"image": IMAGE} if kind in GATES else {}
    with pytest.raises(TypeError, match=f"'{option}'"):
        define(stack, kind, **image, **{option: None})


@pytest.mark.parametrize("kind", sorted(GATES))
def test_a_gate_without_an_image_is_a_type_error_that_names_it(stack: cdk.Stack, kind: str) -> None:
    with pytest.raises(TypeError, match="'image'"):
        define(stack, kind)


def test_a_job_without_an_image_is_refused_and_one_with_two(stack: cdk.Stack) -> None:
    given, images = queue(stack), uc.TrainingImageRepository(stack, "Images")
    with pytest.raises(FindingsError, match=r"UC6106: \S+: image: the job has no image"):
        uc.MultiNodeJob(stack, "None", uc.Job(command=("train.py",)), queue=given)
    with pytest.raises(FindingsError, match=r"UC6106: \S+: image: the job has two images"):
        uc.MultiNodeJob(
            stack, "Two", uc.Job(command=("train.py",), image=IMAGE), queue=given, image=images.image("1")
        )


def test_a_job_with_two_timeouts_is_refused(stack: cdk.Stack) -> None:
    job = uc.Job(image=IMAGE, command=("train.py",), timeout_hours=2)
    with pytest.raises(FindingsError, match=r"UC6104: \S+: timeout: the job has two timeouts"):
        uc.SingleNodeJob(stack, "Two", job, queue=queue(stack), timeout=cdk.Duration.hours(2))


def test_settings_of_another_kind_of_job_are_refused(stack: cdk.Stack) -> None:
    job = uc.Job(image=IMAGE, command=("train.py",), array_size=4)
    with pytest.raises(FindingsError, match=r"UC6112: \S+: array_size: got 4 for a multi-node job"):
        uc.MultiNodeJob(stack, "Array", job, queue=queue(stack))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unknown", ["colour", "compile_cache"])
def test_an_unknown_option_of_a_job_of_a_cluster_is_a_type_error_that_names_it(
    stack: cdk.Stack, method: str, unknown: str
) -> None:
    cluster = ultra_cluster(stack, instance_type="trn1.32xlarge")
    options: dict[str, Any] = {unknown: None}
    if "gate" in method or "smoke" in method:
        options["image"] = IMAGE
    else:
        options["job"] = uc.Job(image=IMAGE, command=("train.py",))
    if method == "add_precompile_job":
        options["queue"] = cluster.queue
    with pytest.raises(TypeError, match=f"'{unknown}'"):
        getattr(cluster, method)("Job", **options)
