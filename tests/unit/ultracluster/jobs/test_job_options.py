"""The options that the jobs share are checked as explicit parameters are."""

import inspect
from collections.abc import Callable
from typing import Any, Unpack

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, ZONE, queue

import ultracluster as uc
from ultracluster.jobs.job import Job

KINDS = ["MultiNodeJob", "SingleNodeJob", "PrecompileJob", "FabricGate", "SmokeTrain"]
GATES = {"FabricGate", "SmokeTrain"}
METHODS = [
    "add_multi_node_job",
    "add_single_node_job",
    "add_precompile_job",
    "add_fabric_gate",
    "add_smoke_train",
]


def define(stack: cdk.Stack, kind: str, **options: Any) -> Job:
    job: Callable[..., Job] = getattr(uc, kind)
    if kind not in GATES:
        options = {"command": ["train.py"]} | options
    if kind == "PrecompileJob":
        options["compile_cache"] = uc.CompileCache(stack, "Cache")
    return job(stack, "Job", queue=queue(stack), **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unknown", ["colour", "default_environment", "after"])
def test_an_unknown_option_of_a_job_is_a_type_error_that_names_it(
    stack: cdk.Stack, kind: str, unknown: str
) -> None:
    with pytest.raises(TypeError, match=f"'{unknown}'"):
        define(stack, kind, image=IMAGE, **{unknown: None})


@pytest.mark.parametrize("kind", sorted(GATES))
@pytest.mark.parametrize("option", ["command", "environment", "launcher", "attempts"])
def test_a_gate_takes_no_options_of_a_program(stack: cdk.Stack, kind: str, option: str) -> None:
    with pytest.raises(TypeError, match=f"'{option}'"):
        define(stack, kind, image=IMAGE, **{option: None})


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_without_an_image_is_a_type_error_that_names_it(stack: cdk.Stack, kind: str) -> None:
    with pytest.raises(TypeError, match="'image'"):
        define(stack, kind)


def test_a_bake_off_takes_only_options_of_a_program(stack: cdk.Stack) -> None:
    bake_off: Callable[..., uc.BakeOff] = uc.BakeOff
    sides = {name: uc.Candidate(queue=queue(cdk.Stack(stack, name)), image=IMAGE) for name in ("a", "b")}
    with pytest.raises(TypeError, match="'image'"):
        bake_off(stack, "BakeOff", candidates=sides, command=["train.py"], image=IMAGE)
    with pytest.raises(TypeError, match="'command'"):
        bake_off(stack, "BakeOff", candidates=sides)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unknown", ["colour", "compile_cache"])
def test_an_unknown_option_of_a_job_of_a_cluster_is_a_type_error_that_names_it(
    stack: cdk.Stack, method: str, unknown: str
) -> None:
    cluster = uc.UltraCluster(
        stack, "Cluster", instance_type="trn1.32xlarge", node_count=2, image_id=IMAGE_ID, zone_id=ZONE
    )
    options = {unknown: None, "image": IMAGE}
    if "gate" not in method and "smoke" not in method:
        options["command"] = ["train.py"]
    if method == "add_precompile_job":
        options["queue"] = cluster.queue
    with pytest.raises(TypeError, match=f"'{unknown}'"):
        getattr(cluster, method)("Job", **options)


def test_the_base_class_takes_every_option() -> None:
    assert inspect.signature(Job.__init__).parameters["options"].annotation == Unpack[uc.JobOptions]
