"""The smoke training runs as the job will."""

from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, queue
from tests.unit.ultracluster.jobs.defined_jobs import arguments, container, timeout

from ultracluster import CompileCache, SmokeTrain

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("instance_type", "changes", "device"),
    [
        ("trn2.48xlarge", {}, "xla"),
        ("p5.48xlarge", {}, "cuda"),
        ("trn2.48xlarge", {"device": "neuron"}, "neuron"),
    ],
)
def test_a_smoke_training_uses_the_device_of_the_type(
    stack: cdk.Stack, instance_type: str, changes: dict[str, Any], device: str
) -> None:
    SmokeTrain(stack, "Smoke", queue=queue(stack, instance_type=instance_type), image=IMAGE, **changes)
    assert arguments(stack) == [*["--no-python", "python3", "-c", "--device", device, "--steps", "5"]]
    assert container(stack)["Command"][2] == "torchrun"
    assert timeout(stack) == 30 * 60


def test_a_smoke_training_runs_as_many_processes_and_uses_the_cache_as_the_job_will(stack: cdk.Stack) -> None:
    cache = CompileCache(stack, "Cache")
    SmokeTrain(
        stack, "Smoke", queue=queue(stack), image=IMAGE, processes_per_node=16, compile_cache=cache, steps=2
    )
    variables = {each["Name"]: each["Value"] for each in container(stack)["Environment"]}
    assert variables["UC_PROCESSES_PER_NODE"] == "16"
    assert variables["NEURON_COMPILE_CACHE_URL"] == stack.resolve(cache.url)
